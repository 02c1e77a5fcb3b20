"""Names of modules that test authors import from packages which anybody may install, or from other versions of Python.

A suite that skips a test where `pandas` is missing skips it because of the image, and not because of the candidate. A
name that is not in this table, not in the contract's `requires` and not in the image is the candidate's to bring.
"""

from __future__ import annotations

_NAMES = """
    accelerate aiofiles aiohttp alembic altair anyio arrow astropy asyncpg attr attrs babel black boto3 botocore
    brotli bs4 cachetools celery certifi charset_normalizer click colorama coverage cryptography cupy cv2 cython
    dask datasets dateparser dateutil defusedxml diffusers dill django docker docutils dotenv faiss faker fastapi
    flake8 flask flax freezegun frozenlist fsspec gensim gevent gmpy2 google grpc gymnasium h5py httpx humanize
    hypothesis IPython ipywidgets jax jaxlib jinja2 joblib jsonschema jwt keras Levenshtein lightgbm loguru lxml lz4
    mako markdown markupsafe marshmallow matplotlib mock more_itertools mpmath msgpack msgspec mypy mysql networkx
    nltk nose nox numba numpy openpyxl OpenSSL orjson pandas parameterized pathspec pendulum PIL pkg_resources
    plotly pluggy polars prometheus_client psutil pyarrow pycparser pycurl pydantic pydantic_core pydantic_settings
    pyfakefs pygments pyparsing pyproj PyQt5 PyQt6 PySide6 pytest_asyncio pytest_benchmark pytest_mock
    pytest_subtests pytz rapidfuzz redis regex requests requests_mock rich ruamel scipy seaborn selenium
    sentencepiece setuptools simplejson six sklearn sniffio sortedcontainers soupsieve spacy sphinx sqlalchemy
    starlette statsmodels structlog sympy tabulate tenacity tensorflow termcolor tiktoken tokenizers toml tomli
    toolz torch torchaudio torchvision tornado tox tqdm transformers typer typing_extensions tzdata ujson urllib3
    uvicorn uvloop validators wcwidth websockets werkzeug wheel xarray xgboost xmltodict xxhash yaml zope zstandard
    BeautifulSoup ConfigParser Cookie HTMLParser Queue StringIO Tkinter cPickle cStringIO dummy_thread httplib
    tkMessageBox urllib2 urlparse
    aifc asynchat asyncore audioop cgi cgitb crypt distutils imghdr imp lib2to3 mailcap msilib nis nntplib
    ossaudiodev pipes sndhdr smtpd spwd sunau telnetlib xdrlib
    annotationlib compression graphlib tomllib zoneinfo
"""
PUBLIC_PACKAGES = frozenset(_NAMES.split())
