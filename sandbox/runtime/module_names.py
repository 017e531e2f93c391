"""The modules that a plan may import: their members, and what is left out of each and why.

Every member touches nothing but its arguments, the run's clock and the run's random numbers. A test compares the lists
with the modules of every supported Python.
"""

from __future__ import annotations

import sys


def split_names(text: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(text.split())


_FOR_CLASSES = "JSON is read as plain data; use object_hook="

_MEMBERS: dict[str, str] = {
    "abc": "ABC ABCMeta abstractmethod",
    "array": "array typecodes",
    "ast": (
        "AST Add And AnnAssign Assert Assign AsyncFor AsyncFunctionDef AsyncWith Attribute AugAssign Await BinOp "
        "BitAnd BitOr BitXor BoolOp Break Call ClassDef Compare Constant Continue Del Delete Dict DictComp Div Eq "
        "ExceptHandler Expr Expression FloorDiv For FormattedValue FunctionDef FunctionType GeneratorExp Global Gt "
        "GtE If IfExp Import ImportFrom In Interactive Invert Is IsNot JoinedStr LShift Lambda List ListComp Load Lt "
        "LtE MatMult Match MatchAs MatchClass MatchMapping MatchOr MatchSequence MatchSingleton MatchStar MatchValue "
        "Mod Module Mult Name NamedExpr NodeVisitor Nonlocal Not NotEq NotIn Or Pass Pow RShift Raise Return Set "
        "SetComp Slice Starred Store Sub Subscript Try TryStar Tuple TypeIgnore UAdd USub UnaryOp While With Yield "
        "YieldFrom alias arg arguments boolop cmpop comprehension dump excepthandler expr expr_context "
        "iter_child_nodes iter_fields keyword literal_eval match_case mod operator parse pattern stmt type_ignore "
        "unaryop unparse walk withitem"
    ),
    "asyncio": (
        "ALL_COMPLETED AbstractEventLoop BoundedSemaphore CancelledError Condition Event FIRST_COMPLETED "
        "FIRST_EXCEPTION Future InvalidStateError LifoQueue Lock PriorityQueue Queue QueueEmpty QueueFull Runner "
        "Semaphore Task TaskGroup TimeoutError all_tasks as_completed create_task current_task ensure_future gather "
        "get_event_loop get_running_loop iscoroutine iscoroutinefunction isfuture new_event_loop run set_event_loop "
        "shield sleep timeout timeout_at to_thread wait wait_for"
    ),
    "base64": (
        "a85decode a85encode b16decode b16encode b32decode b32encode b32hexdecode b32hexencode b64decode "
        "b64encode b85decode b85encode decodebytes encodebytes standard_b64decode standard_b64encode "
        "urlsafe_b64decode urlsafe_b64encode z85decode z85encode"
    ),
    "binascii": (
        "Error Incomplete a2b_base64 a2b_hex a2b_qp a2b_uu b2a_base64 b2a_hex b2a_qp b2a_uu crc32 crc_hqx hexlify "
        "unhexlify"
    ),
    "bisect": "bisect bisect_left bisect_right insort insort_left insort_right",
    "calendar": (
        "APRIL AUGUST Calendar DECEMBER FEBRUARY FRIDAY HTMLCalendar IllegalMonthError IllegalWeekdayError JANUARY "
        "JULY JUNE MARCH MAY MONDAY NOVEMBER OCTOBER SATURDAY SEPTEMBER SUNDAY THURSDAY TUESDAY TextCalendar WEDNESDAY "
        "calendar day_abbr day_name firstweekday isleap leapdays month month_abbr month_name monthcalendar monthrange "
        "setfirstweekday timegm weekday weekheader"
    ),
    "cmath": (
        "acos acosh asin asinh atan atanh cos cosh e exp inf infj isclose isfinite isinf isnan log log10 nan nanj "
        "phase pi polar rect sin sinh sqrt tan tanh tau"
    ),
    "collections": "ChainMap Counter OrderedDict UserDict UserList abc defaultdict deque namedtuple",
    "collections.abc": (
        "AsyncGenerator AsyncIterable AsyncIterator Awaitable Buffer Callable Collection Container Coroutine "
        "Generator Hashable ItemsView Iterable Iterator KeysView Mapping MappingView MutableMapping "
        "MutableSequence MutableSet Reversible Sequence Set Sized ValuesView"
    ),
    "concurrent": "futures",
    "concurrent.futures": (
        "ALL_COMPLETED CancelledError FIRST_COMPLETED FIRST_EXCEPTION Future ThreadPoolExecutor TimeoutError "
        "as_completed wait"
    ),
    "configparser": (
        "BasicInterpolation ConfigParser DEFAULTSECT DuplicateOptionError DuplicateSectionError Error "
        "ExtendedInterpolation InterpolationDepthError InterpolationError InterpolationMissingOptionError "
        "InterpolationSyntaxError MAX_INTERPOLATION_DEPTH MissingSectionHeaderError NoOptionError NoSectionError "
        "ParsingError RawConfigParser"
    ),
    "contextlib": (
        "AbstractAsyncContextManager AbstractContextManager AsyncExitStack ContextDecorator ExitStack aclosing "
        "asynccontextmanager closing contextmanager nullcontext redirect_stderr redirect_stdout suppress"
    ),
    "contextvars": "Context ContextVar Token copy_context",
    "copy": "Error copy deepcopy error",
    "csv": (
        "Dialect DictReader DictWriter Error QUOTE_ALL QUOTE_MINIMAL QUOTE_NONE QUOTE_NONNUMERIC QUOTE_NOTNULL "
        "QUOTE_STRINGS Sniffer excel excel_tab field_size_limit get_dialect list_dialects reader register_dialect "
        "unix_dialect unregister_dialect writer"
    ),
    "dataclasses": (
        "FrozenInstanceError InitVar KW_ONLY MISSING asdict astuple dataclass field fields is_dataclass "
        "make_dataclass replace"
    ),
    "datetime": "MAXYEAR MINYEAR UTC date datetime time timedelta timezone tzinfo",
    "decimal": (
        "Clamped Context ConversionSyntax Decimal DecimalException DecimalTuple DivisionByZero DivisionImpossible "
        "DivisionUndefined FloatOperation HAVE_CONTEXTVAR HAVE_THREADS Inexact InvalidContext InvalidOperation "
        "MAX_EMAX MAX_PREC MIN_EMIN MIN_ETINY Overflow ROUND_05UP ROUND_CEILING ROUND_DOWN ROUND_FLOOR "
        "ROUND_HALF_DOWN ROUND_HALF_EVEN ROUND_HALF_UP ROUND_UP Rounded Subnormal Underflow getcontext localcontext "
        "setcontext"
    ),
    "difflib": (
        "Differ IS_CHARACTER_JUNK IS_LINE_JUNK SequenceMatcher context_diff diff_bytes get_close_matches ndiff "
        "restore "
        "unified_diff"
    ),
    "email": "utils",
    "email.utils": (
        "format_datetime formataddr getaddresses mktime_tz parseaddr parsedate parsedate_to_datetime parsedate_tz quote"
    ),
    "enum": "Enum EnumMeta EnumType Flag IntEnum IntFlag StrEnum auto unique",
    "fnmatch": "filter fnmatch fnmatchcase translate",
    "fractions": "Fraction",
    "functools": (
        "cache cached_property cmp_to_key lru_cache partial partialmethod reduce singledispatch singledispatchmethod "
        "total_ordering update_wrapper wraps"
    ),
    "graphlib": "CycleError TopologicalSorter",
    "gzip": "compress decompress",
    "hashlib": (
        "algorithms_available algorithms_guaranteed blake2b blake2s md5 new pbkdf2_hmac sha1 sha224 sha256 sha384 "
        "sha3_224 sha3_256 sha3_384 sha3_512 sha512 shake_128 shake_256"
    ),
    "heapq": "heapify heappop heappush heappushpop heapreplace merge nlargest nsmallest",
    "hmac": "compare_digest digest new",
    "html": "escape parser unescape",
    "html.parser": "HTMLParser",
    "http": "HTTPMethod HTTPStatus",
    "inspect": (
        "Parameter cleandoc getdoc getmembers isasyncgen isasyncgenfunction isawaitable isbuiltin isclass iscoroutine "
        "iscoroutinefunction isfunction isgenerator isgeneratorfunction ismethod isroutine signature"
    ),
    "io": "BytesIO SEEK_CUR SEEK_END SEEK_SET StringIO UnsupportedOperation",
    "ipaddress": (
        "AddressValueError IPV4LENGTH IPV6LENGTH IPv4Address IPv4Interface IPv4Network IPv6Address IPv6Interface "
        "IPv6Network NetmaskValueError collapse_addresses get_mixed_type_key ip_address ip_interface ip_network "
        "summarize_address_range v4_int_to_packed v6_int_to_packed"
    ),
    "itertools": (
        "accumulate batched chain combinations combinations_with_replacement compress count cycle dropwhile "
        "filterfalse groupby islice pairwise permutations product repeat starmap takewhile tee zip_longest"
    ),
    "json": "JSONDecodeError JSONEncoder dump dumps load loads",
    "large_language_model": "ask ask_llm",
    "logging": (
        "BASIC_FORMAT CRITICAL DEBUG ERROR FATAL Filter Formatter Handler INFO LogRecord Logger LoggerAdapter NOTSET "
        "NullHandler StreamHandler WARN WARNING basicConfig critical debug disable error exception fatal getLevelName "
        "getLogger info log root shutdown warn warning"
    ),
    "math": (
        "acos acosh asin asinh atan atan2 atanh cbrt ceil comb copysign cos cosh degrees dist e erf erfc exp exp2 "
        "expm1 fabs factorial floor fma fmod frexp fsum gamma gcd hypot inf isclose isfinite isinf isnan isqrt lcm "
        "ldexp lgamma log log10 log1p log2 modf nan nextafter perm pi pow prod radians remainder sin sinh sqrt sumprod "
        "tan tanh tau trunc ulp"
    ),
    "numbers": "Complex Integral Number Rational Real",
    "operator": (
        "abs add and_ attrgetter call concat contains countOf delitem eq floordiv ge getitem gt iadd iand iconcat "
        "ifloordiv ilshift imatmul imod imul index indexOf inv invert ior ipow irshift is_ is_not isub itemgetter "
        "itruediv ixor le length_hint lshift lt matmul methodcaller mod mul ne neg not_ or_ pos pow rshift "
        "setitem sub "
        "truediv truth xor"
    ),
    "os": "altsep curdir extsep fspath linesep name pardir path pathsep sep urandom",
    "os.path": (
        "altsep basename commonpath commonprefix curdir dirname extsep isabs join normcase normpath pardir pathsep sep "
        "split splitdrive splitext"
    ),
    "pathlib": "Path PurePath PurePosixPath PureWindowsPath",
    "pprint": "isreadable isrecursive pformat pp pprint saferepr",
    "queue": "Empty Full LifoQueue PriorityQueue Queue SimpleQueue",
    "random": (
        "Random betavariate binomialvariate choice choices expovariate gammavariate gauss getrandbits getstate "
        "lognormvariate normalvariate paretovariate randbytes randint random randrange sample seed setstate "
        "shuffle triangular uniform vonmisesvariate weibullvariate"
    ),
    "re": (
        "A ASCII DOTALL I IGNORECASE L LOCALE M MULTILINE Match NOFLAG Pattern PatternError S U UNICODE VERBOSE X "
        "compile error escape findall finditer fullmatch match purge search split sub subn"
    ),
    "sched": "Event scheduler",
    "secrets": "choice compare_digest randbelow randbits token_bytes token_hex token_urlsafe",
    "shlex": "join quote split",
    "statistics": (
        "NormalDist StatisticsError correlation covariance fmean geometric_mean harmonic_mean kde kde_random "
        "linear_regression mean median median_grouped median_high median_low mode multimode pstdev pvariance "
        "quantiles "
        "stdev variance"
    ),
    "string": (
        "Formatter Template ascii_letters ascii_lowercase ascii_uppercase capwords digits hexdigits octdigits "
        "printable punctuation whitespace"
    ),
    "struct": "Struct calcsize error iter_unpack pack pack_into unpack unpack_from",
    "sys": (
        "argv byteorder exc_info exception exit float_info getrecursionlimit getsizeof hash_info hexversion int_info "
        "intern maxsize maxunicode platform setrecursionlimit stderr stdout version version_info"
    ),
    "textwrap": "TextWrapper dedent fill indent shorten wrap",
    "time": (
        "altzone asctime ctime daylight gmtime localtime mktime monotonic monotonic_ns perf_counter "
        "perf_counter_ns process_time process_time_ns sleep strftime strptime struct_time thread_time "
        "thread_time_ns time time_ns "
        "timezone tzname"
    ),
    "threading": (
        "Barrier BoundedSemaphore BrokenBarrierError Condition Event Lock RLock Semaphore Thread Timer active_count "
        "current_thread enumerate get_ident local main_thread"
    ),
    "tomllib": "TOMLDecodeError loads",
    "traceback": "format_exc format_exception format_exception_only print_exc print_exception",
    "types": (
        "EllipsisType GeneratorType GenericAlias MappingProxyType MethodType NoneType NotImplementedType "
        "SimpleNamespace UnionType"
    ),
    "typing": (
        "AbstractSet Annotated Any AnyStr AsyncGenerator AsyncIterable AsyncIterator Awaitable BinaryIO Callable "
        "ChainMap ClassVar Collection Concatenate Container Coroutine Counter DefaultDict Deque Dict Final FrozenSet "
        "Generator Generic Hashable IO ItemsView Iterable Iterator KeysView List Literal LiteralString Mapping "
        "MappingView Match MutableMapping MutableSequence MutableSet NamedTuple Never NewType NoReturn NotRequired "
        "Optional OrderedDict ParamSpec Pattern Protocol Required Reversible Self Sequence Set Sized SupportsAbs "
        "SupportsBytes SupportsComplex SupportsFloat SupportsIndex SupportsInt SupportsRound TYPE_CHECKING Text "
        "TextIO Tuple Type TypeAlias TypeGuard TypeVar TypeVarTuple TypedDict Union Unpack ValuesView assert_never "
        "cast final get_args get_origin get_type_hints overload override runtime_checkable"
    ),
    "unicodedata": (
        "bidirectional category combining decimal decomposition digit east_asian_width is_normalized lookup "
        "mirrored name normalize numeric unidata_version"
    ),
    "urllib": "parse",
    "urllib.parse": (
        "DefragResult DefragResultBytes ParseResult ParseResultBytes SplitResult SplitResultBytes parse_qs "
        "parse_qsl quote quote_from_bytes quote_plus unquote unquote_plus unquote_to_bytes urldefrag urlencode "
        "urljoin urlparse urlsplit urlunparse urlunsplit"
    ),
    "uuid": "NAMESPACE_DNS NAMESPACE_OID NAMESPACE_URL NAMESPACE_X500 UUID uuid1 uuid3 uuid4 uuid5",
    "warnings": "catch_warnings filterwarnings resetwarnings simplefilter warn",
    "weakref": "WeakKeyDictionary WeakSet WeakValueDictionary ref",
    "xml": "etree sax",
    "xml.etree": "ElementTree",
    "xml.etree.ElementTree": ("Element ParseError SubElement XML fromstring indent iselement tostring"),
    "xml.sax": "saxutils",
    "xml.sax.saxutils": "escape quoteattr unescape",
    "zlib": ("MAX_WBITS Z_BEST_COMPRESSION Z_BEST_SPEED Z_DEFAULT_COMPRESSION adler32 compress crc32 decompress error"),
    "zoneinfo": "ZoneInfo ZoneInfoNotFoundError available_timezones",
}

NEWER_MEMBERS: dict[str, dict[str, tuple[int, int]]] = {
    "typing": {"override": (3, 12)},
    "base64": {"z85decode": (3, 13), "z85encode": (3, 13)},
    "calendar": dict.fromkeys(
        split_names("APRIL AUGUST DECEMBER FEBRUARY JANUARY JULY JUNE MARCH MAY NOVEMBER OCTOBER SEPTEMBER"), (3, 12)
    ),
    "collections.abc": {"Buffer": (3, 12)},
    "csv": {"QUOTE_NOTNULL": (3, 12), "QUOTE_STRINGS": (3, 12)},
    "itertools": {"batched": (3, 12)},
    "math": {"fma": (3, 13), "sumprod": (3, 12)},
    "random": {"binomialvariate": (3, 12)},
    "re": {"PatternError": (3, 13)},
    "statistics": {"kde": (3, 13), "kde_random": (3, 13)},
}
"""Members by the version that brought them. Where Python lacks one, so does the plan's module."""

_FILES = "reads, writes or prints to real files"
_DOOR = "leads to attributes, code or modules"
_MACHINE = "asks the machine or changes the interpreter"
_CLASSES = "is for classes of one's own that this runtime does not hold together"
_SLOW = "is slow on purpose"

LEFT_OUT: dict[str, dict[str, str]] = {
    "abc": {
        _CLASSES: "abstractclassmethod abstractproperty abstractstaticmethod",
        _DOOR: "get_cache_token update_abstractmethods",
    },
    "array": {_DOOR: "ArrayType"},
    "base64": {_FILES: "decode encode main test"},
    "calendar": {_FILES: "prcal prmonth", _MACHINE: "LocaleHTMLCalendar LocaleTextCalendar", _CLASSES: "Day Month"},
    "collections": {_DOOR: "UserString"},
    "collections.abc": {_DOOR: "ByteString"},
    "contextlib": {_CLASSES: "AsyncContextDecorator", _FILES: "chdir"},
    "configparser": {
        _DOOR: (
            "ConverterMapping Interpolation LegacyInterpolation MultilineContinuationError SafeConfigParser "
            "SectionProxy UNNAMED_SECTION UnnamedSectionDisabledError"
        )
    },
    "copy": {_DOOR: "replace dispatch_table"},
    "csv": {"is text": "__doc__ __version__"},
    "dataclasses": {_DOOR: "Field"},
    "datetime": {_MACHINE: "datetime_CAPI"},
    "decimal": {"serves all plans, and could be changed": "BasicContext DefaultContext ExtendedContext"},
    "difflib": {_FILES: "HtmlDiff", _DOOR: "Match"},
    "enum": {
        _CLASSES: (
            "CONFORM CONTINUOUS EJECT EnumCheck EnumDict FlagBoundary KEEP NAMED_FLAGS ReprEnum STRICT UNIQUE member "
            "nonmember property show_flag_values verify"
        ),
        _DOOR: (
            "DynamicClassAttribute global_enum global_enum_repr global_flag_repr global_str pickle_by_enum_name "
            "pickle_by_global_name"
        ),
    },
    "email.utils": {
        _MACHINE: "formatdate localtime make_msgid",
        _DOOR: "collapse_rfc2231_value decode_params decode_rfc2231 encode_rfc2231 unquote",
    },
    "functools": {_DOOR: "RLock WRAPPER_ASSIGNMENTS WRAPPER_UPDATES get_cache_token recursive_repr GenericAlias"},
    "gzip": {_FILES: "BadGzipFile GzipFile open"},
    "hashlib": {_SLOW: "scrypt", _FILES: "file_digest"},
    "hmac": {_DOOR: "HMAC digest_size trans_36 trans_5C"},
    "io": {
        _FILES: (
            "BlockingIOError BufferedIOBase BufferedRWPair BufferedRandom BufferedReader BufferedWriter "
            "DEFAULT_BUFFER_SIZE FileIO IOBase IncrementalNewlineDecoder RawIOBase TextIOBase TextIOWrapper open "
            "open_code text_encoding"
        )
    },
    "json": {_FOR_CLASSES: "JSONDecoder detect_encoding"},
    "logging": {
        _FILES: "FileHandler lastResort raiseExceptions",
        _MACHINE: (
            "BufferingFormatter addLevelName captureWarnings getHandlerByName getHandlerNames getLevelNamesMapping "
            "getLogRecordFactory getLoggerClass makeLogRecord setLogRecordFactory setLoggerClass"
        ),
    },
    "os.path": {
        _FILES: (
            "abspath exists expanduser expandvars getatime getctime getmtime getsize isdevdrive isdir isfile "
            "isjunction islink ismount isreserved lexists realpath relpath samefile sameopenfile samestat"
        ),
        _MACHINE: "defpath devnull splitroot supports_unicode_filenames ALLOW_MISSING",
    },
    "pathlib": {_FILES: "PosixPath UnsupportedOperation WindowsPath"},
    "pprint": {_FILES: "PrettyPrinter"},
    "queue": {"ends waits of other threads": "ShutDown"},
    "random": {
        _MACHINE: "SystemRandom",
        "is a constant of its own": "BPF LOG4 NV_MAGICCONST RECIP_BPF SG_MAGICCONST TWOPI",
    },
    "re": {_FILES: "DEBUG", _DOOR: "RegexFlag Scanner T TEMPLATE template"},
    "secrets": {_MACHINE: "SystemRandom DEFAULT_ENTROPY"},
    "shlex": {_FILES: "shlex"},
    "statistics": {_CLASSES: "LinearRegression"},
    "time": {
        _MACHINE: (
            "CLOCK_BOOTTIME CLOCK_MONOTONIC CLOCK_MONOTONIC_RAW CLOCK_PROCESS_CPUTIME_ID CLOCK_REALTIME CLOCK_TAI "
            "CLOCK_THREAD_CPUTIME_ID clock_getres clock_gettime clock_gettime_ns clock_settime clock_settime_ns "
            "get_clock_info pthread_getcpuclockid tzset"
        )
    },
    "tomllib": {_FILES: "load"},
    "xml.etree.ElementTree": {
        _FILES: "ElementTree dump iterparse parse",
        "changes every later text": "register_namespace",
        _DOOR: (
            "C14NWriterTarget Comment HTML_EMPTY PI ProcessingInstruction QName TreeBuilder VERSION XMLID XMLParser "
            "XMLPullParser canonicalize fromstringlist tostringlist"
        ),
    },
    "xml.sax.saxutils": {_DOOR: "XMLFilterBase XMLGenerator prepare_input_source"},
    "traceback": {
        _DOOR: (
            "FrameSummary StackSummary TracebackException clear_frames extract_stack extract_tb format_list "
            "format_stack format_tb print_last print_list print_stack print_tb walk_stack walk_tb"
        )
    },
    "types": {
        _DOOR: (
            "AsyncGeneratorType BuiltinFunctionType BuiltinMethodType CapsuleType CellType ClassMethodDescriptorType "
            "CodeType CoroutineType DynamicClassAttribute FrameType FunctionType GetSetDescriptorType LambdaType "
            "MemberDescriptorType MethodDescriptorType MethodWrapperType ModuleType TracebackType "
            "WrapperDescriptorType coroutine get_original_bases new_class prepare_class resolve_bases"
        )
    },
    "typing": {
        "is for type checkers": (
            "AsyncContextManager ByteString ContextManager NoDefault ParamSpecArgs ParamSpecKwargs ReadOnly "
            "TypeAliasType TypeIs assert_type clear_overloads dataclass_transform get_overloads is_typeddict "
            "no_type_check no_type_check_decorator reveal_type"
        ),
        _DOOR: "ForwardRef get_protocol_members is_protocol",
    },
    "unicodedata": {_DOOR: "UCD ucd_3_2_0"},
    "uuid": {
        _MACHINE: "getnode SafeUUID",
        "is a constant of its own": "RESERVED_FUTURE RESERVED_MICROSOFT RESERVED_NCS RFC_4122 bytes_ int_ main",
    },
    "warnings": {_FILES: "formatwarning showwarning", _DOOR: "deprecated warn_explicit"},
    "zoneinfo": {_MACHINE: "InvalidTZPathWarning TZPATH reset_tzpath"},
}
"""What plans lack of a module, by the reason. ``ast``, ``os`` and ``sys`` have only what is named above."""


def _members(module: str) -> frozenset[str]:
    newer = NEWER_MEMBERS.get(module, {})
    return frozenset(name for name in _MEMBERS[module].split() if newer.get(name, (3, 0)) <= sys.version_info[:2])


ALLOWED_MODULES: dict[str, frozenset[str]] = {module: _members(module) for module in _MEMBERS}
"""The modules that a plan may import, and their members. An import only binds a name."""

PREDEFINED_MODULES = frozenset({"ast", "asyncio", "collections", "json", "math", "random", "re", "string"})
"""The modules that a plan may also use without an import."""

PREDEFINED_MEMBERS = frozenset({"Counter", "OrderedDict", "defaultdict", "deque"})
"""The members of ``collections`` that a plan may also use without an import."""

NO_FILES = "plans cannot reach files; use the agent's methods, and keep data in variables"
_FILE_MODULES = frozenset({"os", "os.path", "pathlib"})
_NO_NETWORK = "plans cannot reach the network; use the agent's methods"
_NO_PROCESSES = "plans start no processes and no threads"


_HINTS = {
    "re.Scanner": "; join the patterns as named groups, and ask each match of re.finditer for its lastgroup",
    "threading": "; for calls at the same time, write each(agent.f, xs) or use ThreadPoolExecutor",
    "xml.etree.ElementTree": "; read a text with fromstring",
}


def missing_member(module: str, name: str) -> str:
    """Say that a module of plans lacks a member, what it has, and what to use where it would be for files."""
    hint = f"; {NO_FILES}" if module in _FILE_MODULES else _HINTS.get(f"{module}.{name}", _HINTS.get(module, ""))
    return f"has no `{name}` here; it has: {', '.join(sorted(ALLOWED_MODULES[module]))}{hint}"


_NO_COMMAND_LINE = "plans have no command line; write a function with parameters, and split lines with shlex.split"
_MAIL_AS_TEXT = "write the headers and the body as one text; email.utils formats addresses and dates"

REFUSED_MODULES: dict[str, str] = {
    **dict.fromkeys(("argparse", "click", "getopt", "optparse"), _NO_COMMAND_LINE),
    **dict.fromkeys(("doctest", "pytest", "unittest", "unittest.mock"), "write assert statements"),
    **dict.fromkeys(("email.message", "email.mime", "email.parser"), _MAIL_AS_TEXT),
    **dict.fromkeys(("cProfile", "profile", "timeit", "tracemalloc"), "measure with time.perf_counter()"),
    **dict.fromkeys(("glob", "shutil", "tarfile", "tempfile", "zipfile"), NO_FILES),
    **dict.fromkeys(("imaplib", "poplib", "smtplib", "ftplib"), _NO_NETWORK),
    "sqlite3": "keep the rows as lists of dicts; filter, join and group them with comprehensions and dicts",
    **dict.fromkeys(
        ("codecs", "locale", "gettext"), "write text.encode(), data.decode() and f-strings such as f'{n:,.2f}'"
    ),
    **dict.fromkeys(("getpass", "platform"), "ask the agent: plans learn nothing of the machine"),
    **dict.fromkeys(
        ("http.client", "http.server", "requests", "httpx", "socket", "ssl", "urllib.request", "aiohttp"), _NO_NETWORK
    ),
    **dict.fromkeys(("multiprocessing", "signal", "subprocess"), _NO_PROCESSES),
    **dict.fromkeys(("pickle", "marshal", "shelve"), "write json.dumps and json.loads"),
    "gc": "leave it out: an object goes with its last reference",
    **dict.fromkeys(("builtins", "ctypes", "importlib"), "plans do not reach the interpreter itself"),
}
"""What to write instead of a module that no plan can import."""
