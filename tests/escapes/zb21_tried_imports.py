# kind: guards
# tries: an import that is tried, and is not there, binds a name of the runtime, hides a failure, or leads to a module by its error
def solution(agent, start_from=1):
    import sys
    try:
        from nowhere import agent, print as _getattr_, _import_missing_
    except ImportError as e:
        error = e
    for name in ('__traceback__', 'tb_frame', '__globals__', 'path', 'name_from', 'obj'):
        try:
            value = getattr(error, name)
            if value is not None:
                print('CANARY-WALK', value)
        except AttributeError:
            pass
    try:
        import os.system, builtins, codeplan.sandbox as box
        print('CANARY-IMPORT', box)
    except ImportError as e:
        print(e)
    try:
        from sys import modules
        print('CANARY-IMPORT', modules)
    except (ImportError, NameError) as e:
        print(e)
    try:
        from os import *
        print('CANARY-IMPORT', listdir)
    except (ImportError, NameError) as e:
        print(e)
    try:
        import nowhere as sys
    except ImportError:
        pass
    print('CANARY-MODULES' if hasattr(sys, 'modules') else 'fine')
    try:
        try:
            assert False, 'over'
        except ImportError:
            pass
        finally:
            try:
                import nowhere
            except ImportError:
                pass
    finally:
        print(agent.report())
