# kind: forge
# tries: steps numbered 0, -5, 10**30, twice, downwards: what does a resume do with them
def solution(agent, start_from=1):
    if start_from <= -5:
        print('[Step -5]')
    if start_from <= 1000000000000000000000000000000:
        print('[Step big]')
    if start_from <= 1:
        assert False, 'Error in [Step 1]: FORGE'
    if start_from <= 1:
        print('again')
