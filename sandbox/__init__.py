"""placeholder"""

if not __name__.startswith("codeplan."):
    raise ImportError("import codeplan.sandbox, not sandbox: a second copy of this package would be loaded")
