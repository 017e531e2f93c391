# kind: builtins
# tries: traps and flags of the context stay for the next plan
# a correct runtime must: give the next plan a fresh context
def solution(agent, start_from=1):
    import decimal
    from decimal import Decimal, Context
    for context in (decimal.getcontext(), Context(), decimal.setcontext(Context()) or decimal.getcontext()):
        for signal in (decimal.Inexact, decimal.Rounded, decimal.FloatOperation, decimal.Clamped, decimal.Subnormal, decimal.ConversionSyntax, decimal.DivisionUndefined):
            try:
                context.traps[signal] = True
                context.flags[signal] = True
            except KeyError:
                pass
    decimal.getcontext().prec = 1
    for write in (lambda: setattr(decimal.getcontext(), 'traps', {}), lambda: setattr(decimal.getcontext(), 'Emax', 10), lambda: setattr(decimal.DecimalTuple, '_fields', ()), lambda: setattr(decimal, 'MAX_PREC', 1)):
        try:
            write()
            print('CAN' + 'ARY written')
        except (AttributeError, TypeError):
            pass
    print(decimal.DecimalTuple(0, (1,), 2)._replace(sign=1), decimal.MAX_PREC)
    try:
        print(Decimal(1) / 3)
    except decimal.Inexact:
        print(decimal.getcontext())
