"""What a `python` scorer may use of each module and keep its verdict out of its candidate's reach: an allow-list.

A module's name leads on to every module that this one imports, and many hold a function that executes a text, reads a
pickle or writes a file. So a name counts only if it stands here. Left out on purpose, among others: `numpy.load` and
`numpy.lib` (pickles), `numpy.bmat` and `numpy.matrix` (texts that name variables), `dataclasses.make_dataclass`,
`typing.get_type_hints`, `operator.attrgetter`, `operator.mod` (formats texts), `string.Formatter`, `io.open`,
`uuid.getnode` (starts programs).
"""

from __future__ import annotations

import ast
import token
from collections.abc import Mapping
from types import MappingProxyType


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_NODES = frozenset(name for name, kind in vars(ast).items() if isinstance(kind, type) and issubclass(kind, ast.AST))
_TOKENS = frozenset(name for name in vars(token) if name.isupper())

MAY_USE: Mapping[str, frozenset[str]] = MappingProxyType({
    "__future__": _names("annotations division print_function unicode_literals absolute_import generator_stop"),
    "abc": _names("ABC ABCMeta abstractclassmethod abstractmethod abstractproperty abstractstaticmethod"),
    "array": _names("ArrayType array typecodes"),
    "ast": _NODES | _names(
        "NodeTransformer NodeVisitor copy_location dump fix_missing_locations get_docstring get_source_segment "
        "increment_lineno iter_child_nodes iter_fields literal_eval parse unparse walk"
    ),
    "base64": _names(
        "a85decode a85encode b16decode b16encode b32decode b32encode b32hexdecode b32hexencode b64decode b64encode "
        "b85decode b85encode decodebytes encodebytes standard_b64decode standard_b64encode urlsafe_b64decode "
        "urlsafe_b64encode"
    ),
    "binascii": _names(
        "Error Incomplete a2b_base64 a2b_hex a2b_qp a2b_uu b2a_base64 b2a_hex b2a_qp b2a_uu crc32 crc_hqx hexlify "
        "unhexlify"
    ),
    "bisect": _names("bisect bisect_left bisect_right insort insort_left insort_right"),
    "calendar": _names(
        "Calendar FRIDAY HTMLCalendar IllegalMonthError IllegalWeekdayError MONDAY SATURDAY SUNDAY THURSDAY TUESDAY "
        "TextCalendar WEDNESDAY calendar day_abbr day_name firstweekday isleap leapdays month month_abbr month_name "
        "monthcalendar monthrange setfirstweekday timegm weekday weekheader"
    ),
    "cmath": _names(
        "acos acosh asin asinh atan atanh cos cosh e exp inf infj isclose isfinite isinf isnan log log10 nan nanj "
        "phase pi polar rect sin sinh sqrt tan tanh tau"
    ),
    "collections": _names(
        "ChainMap Counter OrderedDict UserDict UserList UserString defaultdict deque namedtuple"
    ),
    "collections.abc": _names(
        "AsyncGenerator AsyncIterable AsyncIterator Awaitable Buffer ByteString Callable Collection Container "
        "Coroutine Generator Hashable ItemsView Iterable Iterator KeysView Mapping MappingView MutableMapping "
        "MutableSequence MutableSet Reversible Sequence Set Sized ValuesView"
    ),
    "contextlib": _names(
        "AbstractAsyncContextManager AbstractContextManager AsyncExitStack ContextDecorator ExitStack aclosing "
        "asynccontextmanager closing contextmanager nullcontext redirect_stderr redirect_stdout suppress"
    ),
    "copy": _names("Error copy deepcopy replace"),
    "csv": _names(
        "Dialect DictReader DictWriter Error QUOTE_ALL QUOTE_MINIMAL QUOTE_NONE QUOTE_NONNUMERIC QUOTE_NOTNULL "
        "QUOTE_STRINGS Sniffer excel excel_tab field_size_limit get_dialect list_dialects reader register_dialect "
        "unix_dialect unregister_dialect writer"
    ),
    "dataclasses": _names(
        "Field FrozenInstanceError InitVar KW_ONLY MISSING asdict astuple dataclass field fields is_dataclass replace"
    ),
    "datetime": _names("MAXYEAR MINYEAR UTC date datetime time timedelta timezone tzinfo"),
    "decimal": _names(
        "BasicContext Clamped Context ConversionSyntax Decimal DecimalException DecimalTuple DefaultContext "
        "DivisionByZero DivisionImpossible DivisionUndefined ExtendedContext FloatOperation Inexact InvalidContext "
        "InvalidOperation MAX_EMAX MAX_PREC MIN_EMIN MIN_ETINY Overflow ROUND_05UP ROUND_CEILING ROUND_DOWN "
        "ROUND_FLOOR ROUND_HALF_DOWN ROUND_HALF_EVEN ROUND_HALF_UP ROUND_UP Rounded Subnormal Underflow getcontext "
        "localcontext setcontext"
    ),
    "difflib": _names(
        "Differ HtmlDiff IS_CHARACTER_JUNK IS_LINE_JUNK Match SequenceMatcher context_diff diff_bytes "
        "get_close_matches ndiff restore unified_diff"
    ),
    "enum": _names(
        "CONFORM CONTINUOUS EJECT Enum EnumCheck EnumMeta EnumType Flag FlagBoundary IntEnum IntFlag KEEP NAMED_FLAGS "
        "ReprEnum STRICT StrEnum UNIQUE auto member nonmember property unique verify"
    ),
    "fractions": _names("Fraction"),
    "functools": _names(
        "cache cached_property cmp_to_key lru_cache partial partialmethod reduce singledispatch singledispatchmethod "
        "total_ordering update_wrapper wraps"
    ),
    "hashlib": _names(
        "algorithms_available algorithms_guaranteed blake2b blake2s md5 new pbkdf2_hmac scrypt sha1 sha224 sha256 "
        "sha384 sha3_224 sha3_256 sha3_384 sha3_512 sha512 shake_128 shake_256"
    ),
    "heapq": _names("heapify heappop heappush heappushpop heapreplace merge nlargest nsmallest"),
    "html": _names("escape unescape"),
    "html.parser": _names("HTMLParser"),
    "io": _names("BytesIO SEEK_CUR SEEK_END SEEK_SET StringIO TextIOWrapper UnsupportedOperation"),
    "itertools": _names(
        "accumulate batched chain combinations combinations_with_replacement compress count cycle dropwhile "
        "filterfalse groupby islice pairwise permutations product repeat starmap takewhile tee zip_longest"
    ),
    "json": _names("JSONDecodeError JSONDecoder JSONEncoder dump dumps load loads"),
    "json.decoder": _names("JSONDecodeError JSONDecoder"),
    "keyword": _names("iskeyword issoftkeyword kwlist softkwlist"),
    "math": _names(
        "acos acosh asin asinh atan atan2 atanh cbrt ceil comb copysign cos cosh degrees dist e erf erfc exp exp2 "
        "expm1 fabs factorial floor fma fmod frexp fsum gamma gcd hypot inf isclose isfinite isinf isnan isqrt lcm "
        "ldexp lgamma log log10 log1p log2 modf nan nextafter perm pi pow prod radians remainder sin sinh sqrt "
        "sumprod tan tanh tau trunc ulp"
    ),
    "numbers": _names("Complex Integral Number Rational Real"),
    "numpy": _names(
        "False_ True_ abs absolute acos acosh add all allclose amax amin angle any append apply_along_axis "
        "apply_over_axes arange arccos arccosh arcsin arcsinh arctan arctan2 arctanh argmax argmin argpartition "
        "argsort argwhere around array array2string array_equal array_equiv array_repr array_split array_str "
        "asanyarray asarray asarray_chkfinite ascontiguousarray asfortranarray asin asinh astype atan atan2 atanh "
        "atleast_1d atleast_2d atleast_3d average bartlett base_repr binary_repr bincount bitwise_and bitwise_count "
        "bitwise_invert bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift bitwise_xor blackman block bool "
        "bool_ broadcast broadcast_arrays broadcast_shapes broadcast_to byte bytes_ can_cast cbrt cdouble ceil choose "
        "clip column_stack common_type complex128 complex64 complexfloating compress concat concatenate conj "
        "conjugate convolve copy copysign copyto corrcoef correlate cos cosh count_nonzero cov cross cumprod cumsum "
        "cumulative_prod cumulative_sum datetime64 deg2rad degrees delete diag diag_indices diag_indices_from "
        "diagflat diagonal diff digitize divide divmod dot double dsplit dstack dtype e ediff1d einsum einsum_path "
        "empty empty_like equal errstate euler_gamma exp exp2 expand_dims expm1 extract eye fabs fill_diagonal finfo "
        "fix flatnonzero flexible flip fliplr flipud float16 float32 float64 float_ float_power floating floor "
        "floor_divide fmax fmin fmod format_float_positional format_float_scientific frexp frombuffer fromfunction "
        "fromiter fromstring full full_like gcd generic genfromtxt geomspace gradient greater greater_equal half "
        "hamming hanning heaviside histogram histogram2d histogram_bin_edges histogramdd hsplit hstack hypot i0 "
        "identity iinfo imag in1d indices inexact inf inner insert int16 int32 int64 int8 int_ intc integer interp "
        "intersect1d intp invert isclose iscomplex iscomplexobj isdtype isfinite isfortran isin isinf isnan isnat "
        "isneginf isposinf isreal isrealobj isscalar issubdtype iterable ix_ kaiser kron lcm ldexp left_shift less "
        "less_equal lexsort linspace loadtxt log log10 log1p log2 logaddexp logaddexp2 logical_and logical_not "
        "logical_or logical_xor logspace matmul matrix_transpose max maximum mean median meshgrid mgrid min minimum "
        "mod modf moveaxis multiply nan nan_to_num nanargmax nanargmin nancumprod nancumsum nanmax nanmean nanmedian "
        "nanmin nanpercentile nanprod nanquantile nanstd nansum nanvar ndarray ndenumerate ndim ndindex nditer "
        "negative newaxis nextafter nonzero not_equal number object_ ogrid ones ones_like outer packbits pad "
        "partition percentile permute_dims pi piecewise place poly poly1d polyadd polyder polydiv polyfit polyint "
        "polymul polysub polyval positive pow power printoptions prod promote_types ptp put put_along_axis putmask "
        "quantile rad2deg radians ravel ravel_multi_index real real_if_close reciprocal remainder repeat reshape "
        "resize result_type right_shift rint roll rollaxis roots rot90 round searchsorted select set_printoptions "
        "setdiff1d seterr setxor1d shape short sign signbit signedinteger sin sinc single sinh size sort "
        "sort_complex spacing split sqrt square squeeze stack std str_ subtract sum swapaxes take take_along_axis tan "
        "tanh tensordot tile timedelta64 trace transpose trapezoid trapz tri tril tril_indices tril_indices_from "
        "trim_zeros triu triu_indices triu_indices_from true_divide trunc ubyte ufunc uint uint16 uint32 uint64 uint8 "
        "uintc uintp union1d unique unique_all unique_counts unique_inverse unique_values unpackbits unravel_index "
        "unsignedinteger unstack unwrap ushort vander var vdot vecdot vectorize vsplit vstack where zeros zeros_like"
    ),
    "numpy.fft": _names(
        "fft fft2 fftfreq fftn fftshift hfft ifft ifft2 ifftn ifftshift ihfft irfft irfft2 irfftn rfft rfft2 rfftfreq "
        "rfftn"
    ),
    "numpy.linalg": _names(
        "LinAlgError cholesky cond cross det diagonal eig eigh eigvals eigvalsh inv lstsq matmul matrix_norm "
        "matrix_power matrix_rank matrix_transpose multi_dot norm outer pinv qr slogdet solve svd svdvals tensordot "
        "tensorinv tensorsolve trace vecdot vector_norm"
    ),
    "numpy.random": _names(
        "Generator PCG64 RandomState SeedSequence beta binomial chisquare choice default_rng dirichlet exponential "
        "gamma geometric gumbel laplace logistic lognormal multinomial multivariate_normal normal pareto permutation "
        "poisson rand randint randn random random_sample seed shuffle standard_normal triangular uniform weibull zipf"
    ),
    "operator": _names(
        "abs add and_ concat contains countOf delitem eq floordiv ge getitem gt iadd iand iconcat ifloordiv ilshift "
        "imatmul imul index indexOf inv invert ior ipow irshift is_ is_not isub itemgetter itruediv ixor le "
        "length_hint lshift lt matmul mul ne neg not_ or_ pos pow rshift setitem sub truediv truth xor"
    ),
    "random": _names(
        "Random SystemRandom betavariate binomialvariate choice choices expovariate gammavariate gauss getrandbits "
        "getstate lognormvariate normalvariate paretovariate randbytes randint random randrange sample seed setstate "
        "shuffle triangular uniform vonmisesvariate weibullvariate"
    ),
    "re": _names(
        "A ASCII DOTALL I IGNORECASE L LOCALE M MULTILINE Match NOFLAG Pattern PatternError RegexFlag S U UNICODE "
        "VERBOSE X compile error escape findall finditer fullmatch match purge search split sub subn"
    ),
    "secrets": _names("SystemRandom choice compare_digest randbelow randbits token_bytes token_hex token_urlsafe"),
    "shlex": _names("join quote split"),
    "statistics": _names(
        "NormalDist StatisticsError correlation covariance fmean geometric_mean harmonic_mean kde kde_random "
        "linear_regression mean median median_grouped median_high median_low mode multimode pstdev pvariance "
        "quantiles stdev variance"
    ),
    "string": _names(
        "Template ascii_letters ascii_lowercase ascii_uppercase capwords digits hexdigits octdigits printable "
        "punctuation whitespace"
    ),
    "struct": _names("Struct calcsize error iter_unpack pack pack_into unpack unpack_from"),
    "textwrap": _names("TextWrapper dedent fill indent shorten wrap"),
    "time": _names(
        "altzone asctime ctime daylight gmtime localtime mktime monotonic monotonic_ns perf_counter perf_counter_ns "
        "process_time process_time_ns sleep strftime strptime struct_time thread_time thread_time_ns time time_ns "
        "timezone tzname"
    ),
    "tokenize": _TOKENS | _names(
        "COMMENT ENCODING NL TokenError TokenInfo detect_encoding generate_tokens tok_name tokenize untokenize"
    ),
    "typing": _names(
        "AbstractSet Annotated Any AnyStr AsyncContextManager AsyncGenerator AsyncIterable AsyncIterator Awaitable "
        "BinaryIO ByteString Callable ChainMap ClassVar Collection Concatenate Container ContextManager Coroutine "
        "Counter DefaultDict Deque Dict Final FrozenSet Generator Generic Hashable IO ItemsView Iterable Iterator "
        "KeysView List Literal LiteralString Mapping MappingView Match MutableMapping MutableSequence MutableSet "
        "NamedTuple Never NewType NoReturn NotRequired Optional OrderedDict ParamSpec Pattern Protocol Required "
        "Reversible Self Sequence Set Sized SupportsAbs SupportsBytes SupportsComplex SupportsFloat SupportsIndex "
        "SupportsInt SupportsRound TYPE_CHECKING Text TextIO Tuple Type TypeAlias TypeGuard TypeVar TypeVarTuple "
        "TypedDict Union Unpack ValuesView assert_never assert_type cast final get_args get_origin is_typeddict "
        "no_type_check overload override runtime_checkable"
    ),
    "unicodedata": _names(
        "bidirectional category combining decimal decomposition digit east_asian_width is_normalized lookup mirrored "
        "name normalize numeric ucd_3_2_0 unidata_version"
    ),
    "uuid": _names(
        "NAMESPACE_DNS NAMESPACE_OID NAMESPACE_URL NAMESPACE_X500 RESERVED_FUTURE RESERVED_MICROSOFT RESERVED_NCS "
        "RFC_4122 SafeUUID UUID uuid3 uuid4 uuid5"
    ),
    "zlib": _names(
        "DEFLATED MAX_WBITS Z_BEST_COMPRESSION Z_BEST_SPEED Z_DEFAULT_COMPRESSION adler32 compress compressobj crc32 "
        "decompress decompressobj error"
    ),
    "zoneinfo": _names("ZoneInfo ZoneInfoNotFoundError available_timezones"),
})  # fmt: skip
