"""Names of modules that test authors import from packages which anybody may install, or from other versions of Python.

A suite that skips a test where `pandas` is missing skips it because of the image, and not because of the candidate. A
name that is not in this table, not in the contract's `requires` and not in the image is the candidate's to bring.
"""

from __future__ import annotations

_NAMES = """
    absl accelerate aiofiles aiohttp alembic altair anthropic anyio argon2 arrow astor astropy asyncpg attr attrs
    babel bcrypt black boltons boto3 botocore brotli bs4 cachetools celery certifi chardet charset_normalizer
    click colorama coverage Crypto Cryptodome cryptography cssselect cupy cv2 cvxpy cython cytoolz dask datasets
    dateparser dateutil ddt defusedxml diffusers dill django docker docutils docx dotenv elasticsearch faiss faker
    fastapi fitz flake8 flask flask_sqlalchemy flax folium freezegun frozenlist fsspec ftfy funcy gensim geopandas
    geopy gevent gmpy2 google graphviz grpc gymnasium h5py html5lib httpretty httpx humanize hypothesis igraph
    imageio IPython ipywidgets itsdangerous jax jaxlib jieba jinja2 joblib jsonschema jwt kafka keras kivy
    langchain ldap3 Levenshtein libcst librosa lightgbm loguru lxml lz4 mako markdown markupsafe marshmallow
    matplotlib mechanize mlflow mock more_itertools moviepy mpmath msgpack msgspec mypy mysql MySQLdb nacl neo4j
    netaddr networkx nltk nose nox numba numpy openai openpyxl OpenSSL optuna orjson ortools pandas parameterized
    paramiko parso passlib pathspec pdfplumber peewee peft pendulum pexpect pika PIL pkg_resources plotly pluggy
    polars pptx prometheus_client psutil psycopg psycopg2 py7zr pyarrow pyautogui pycparser pycurl pydantic
    pydantic_core pydantic_settings pydot pydub pyfakefs pygame pygments pymongo pymysql pynput pyomo pyotp
    pyparsing pypdf PyPDF2 pyperclip pypinyin pyproj PyQt5 PyQt6 pyquery pyrsistent PySide6 pyspark pytesseract
    pytest_asyncio pytest_benchmark pytest_check pytest_django pytest_httpx pytest_mock pytest_subtests pytz
    rapidfuzz rasterio redis regex reportlab requests requests_mock respx rest_framework rich rouge_score ruamel
    sacrebleu scapy scipy scrapy seaborn selenium sentence_transformers sentencepiece setuptools shap shapely
    simplejson simpy six skimage sklearn sniffio sortedcontainers soundfile soupsieve spacy sphinx sqlalchemy
    sqlmodel starlette statsmodels structlog sympy tabulate tenacity tensorflow termcolor testfixtures textblob
    tiktoken tokenizers toml tomli toolz torch torchaudio torchvision tornado tox tqdm transformers tree_sitter
    trl tweepy typer typing_extensions tzdata ujson unidecode urllib3 uvicorn uvloop validators vcr wandb wcwidth
    websockets werkzeug wheel xarray xgboost xlrd xlsxwriter xlwt xmltodict xxhash yaml yfinance zmq zope
    zstandard
    BeautifulSoup ConfigParser Cookie HTMLParser Queue StringIO Tkinter cPickle cStringIO dummy_thread httplib
    tkMessageBox urllib2 urlparse
    aifc asynchat asyncore audioop cgi cgitb crypt distutils imghdr imp lib2to3 mailcap msilib nis nntplib
    ossaudiodev pipes sndhdr smtpd spwd sunau telnetlib xdrlib
    annotationlib compression graphlib tomllib zoneinfo
"""
PUBLIC_PACKAGES = frozenset(_NAMES.split())
