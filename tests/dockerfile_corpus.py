"""Dockerfiles of the shapes that public projects have, with the files of their contexts.

Those that need no network are built; the others are read and planned. The images that they begin with are made by tests
under these names, from this machine's own programs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Sample:
    """One Dockerfile."""

    text: str
    context: Mapping[str, str] = field(default_factory=dict)
    """path -> content"""
    says: str = ""
    """a shell command that succeeds in the image"""
    steps: int = 0
    """how many of its steps make a layer, all needed stages together"""
    triggers: int = 0
    """how many of these ONBUILD of its own stages adds, which is known when these are built"""
    needs_network: bool = False
    needs_users: bool = False
    """a sandbox must have several users"""


SAMPLES: Mapping[str, Sample] = {
    "flask app, as its tutorial has it": Sample(
        """\
# syntax=docker/dockerfile:1
FROM python:3.11-slim
WORKDIR /app
COPY requirements.txt requirements.txt
RUN pip3 install -r requirements.txt
COPY . .
ENV FLASK_APP=app.py
EXPOSE 5000
CMD [ "python3", "-m" , "flask", "run", "--host=0.0.0.0"]
""",
        {"requirements.txt": "flask\n", "app.py": "x = 1\n"},
        steps=4,
        needs_network=True,
    ),
    "node service with a cache of packages": Sample(
        """\
ARG NODE_VERSION=20.10.0
FROM node:${NODE_VERSION}-alpine AS deps
WORKDIR /usr/src/app
RUN --mount=type=bind,source=package.json,target=package.json \\
    --mount=type=cache,target=/root/.npm \\
    npm ci --omit=dev
FROM deps as final
ENV NODE_ENV production
USER node
COPY --chown=node:node --from=deps /usr/src/app/node_modules ./node_modules
COPY . .
EXPOSE 3000
CMD npm start
""",
        {"package.json": "{}\n"},
        steps=4,
        needs_network=True,
    ),
    "Go program for scratch": Sample(
        """\
FROM golang:1.22 AS build
ARG TARGETOS TARGETARCH
WORKDIR /src
COPY go.mod go.sum ./
RUN --mount=type=cache,target=/go/pkg/mod go mod download -x
COPY . .
RUN CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH go build -ldflags="-s -w" -o /out/server ./cmd/server
FROM scratch
COPY --from=build /out/server /server
ENTRYPOINT ["/server"]
""",
        {"go.mod": "module x\n", "go.sum": ""},
        steps=6,
        needs_network=True,
    ),
    "packages of Debian, as terminal tasks have them": Sample(
        """\
FROM debian:12
ENV DEBIAN_FRONTEND=noninteractive
RUN apt-get update && apt-get install -y --no-install-recommends \\
    # editors
    vim \\
    # and tools

    tmux=3.3* \\
    asciinema \\
 && rm -rf /var/lib/apt/lists/*
WORKDIR /app
COPY task-deps/ /app/
""",
        {"task-deps/data.csv": "1,2\n"},
        steps=3,
        needs_network=True,
    ),
    "Rust with a planner of its dependencies": Sample(
        """\
FROM rust:1.75 AS chef
RUN cargo install cargo-chef
WORKDIR /app
FROM chef AS planner
COPY . .
RUN cargo chef prepare --recipe-path recipe.json
FROM chef AS builder
COPY --from=planner /app/recipe.json recipe.json
RUN cargo chef cook --release --recipe-path recipe.json
COPY . .
RUN cargo build --release
FROM debian:12 AS runtime
COPY --from=builder /app/target/release/app /usr/local/bin
ENTRYPOINT ["/usr/local/bin/app"]
""",
        {"Cargo.toml": ""},
        steps=9,
        needs_network=True,
    ),
    "PHP with ONBUILD for those who build on it": Sample(
        """\
FROM php:8.2-apache
RUN docker-php-ext-install pdo_mysql
ONBUILD COPY composer.json /var/www/
ONBUILD RUN composer install --no-dev
HEALTHCHECK --interval=30s --timeout=3s --retries=5 CMD curl -f http://localhost/ || exit 1
STOPSIGNAL SIGWINCH
VOLUME ["/var/www/uploads"]
""",
        steps=1,
        needs_network=True,
    ),
    "Java in two stages": Sample(
        """\
FROM maven:3.9-eclipse-temurin-21 AS build
COPY pom.xml .
RUN mvn -B dependency:go-offline
COPY src ./src
RUN mvn -B package -DskipTests
FROM eclipse-temurin:21-jre
ARG JAR_FILE=target/*.jar
COPY --from=build /target/app.jar /app.jar
ENTRYPOINT ["java","-jar","/app.jar"]
""",
        {"pom.xml": "<project/>\n", "src/Main.java": "class Main {}\n"},
        steps=5,
        needs_network=True,
    ),
    "a task of software engineering with its repository": Sample(
        """\
FROM ubuntu:22.04
SHELL ["/bin/bash", "-o", "pipefail", "-c"]
RUN apt-get update && apt-get install -y git python3-venv
RUN git clone https://example.org/project.git /testbed && cd /testbed && git reset --hard 0123456
WORKDIR /testbed
RUN python3 -m venv /venv && . /venv/bin/activate && pip install -e .[test]
ENV PATH="/venv/bin:$PATH"
""",
        steps=4,
        needs_network=True,
    ),
    "two stages that copy from each other": Sample(
        """\
FROM debian:12 AS build
WORKDIR /src
COPY . .
RUN for name in *.txt; do cat "$name"; done > /out && mkdir -p /tree/deep && cp /out /tree/deep/
FROM debian:12
COPY --from=build /out /result
COPY --from=0 /tree /tree/
CMD ["cat", "/result"]
""",
        {"a.txt": "a\n", "b.txt": "b\n"},
        'test "$(cat /result /tree/deep/out)" = "$(printf \'a\\nb\\na\\nb\')"'.replace("printf", "printf"),
        5,
    ),
    "arguments and variables in all their forms": Sample(
        """\
ARG TAG=12
FROM debian:${TAG:-11}
ARG NAME=app
ARG VERSION
ENV HOME_OF_${NAME}=x APP=/opt/$NAME WITH="two words" OLD=v1.2.3
ENV PLAIN=${OLD#v} LEGACY=${MISSING:-none} ONLY=${APP:+set} FILE=${APP##*/} ESCAPED=\\$APP
WORKDIR $APP
RUN echo "$PLAIN|$LEGACY|$ONLY|$FILE|$ESCAPED|$WITH|${VERSION:-unset}" > said && pwd >> said
LABEL "org.example.name"="$NAME" multi="a b" \\
      other=c
""",
        says="grep -qF '1.2.3|none|set|app|$APP|two words|unset' /opt/app/said && grep -qx /opt/app /opt/app/said",
        steps=2,
    ),
    "here-documents": Sample(
        """\
FROM debian:12
RUN <<EOF
set -e
mkdir -p /made
echo one > /made/one
EOF
RUN cat <<-'FIRST' > /made/first && cat <<SECOND > /made/second
\t\t$literal
\tFIRST
line two
SECOND
ENV WHO=world
COPY <<greeting.txt <<"raw.txt" /made/
hello $WHO
greeting.txt
hello $WHO
raw.txt
RUN <<EOF
#!/bin/sh
echo "script in $0" > /made/script
EOF
""",
        says=(
            "cd /made && grep -qx one one && grep -qxF '$literal' first && grep -qx 'line two' second"
            " && grep -qx 'hello world' greeting.txt && grep -qxF 'hello $WHO' raw.txt && grep -q 'script in' script"
        ),
        steps=4,
    ),
    "a context with a .dockerignore": Sample(
        """\
FROM debian:12
COPY . /all/
COPY --exclude=*.md docs /docs
""",
        {
            ".dockerignore": "# comment\n**/*.pyc\nbuild\n*.log\n!keep.log\nsecret?.txt\n",
            "a.py": "",
            "deep/b.pyc": "",
            "deep/c.py": "",
            "build/out": "",
            "x.log": "",
            "keep.log": "",
            "secret1.txt": "",
            "docs/a.md": "",
            "docs/b.txt": "",
        },
        (
            "cd /all && test -f a.py -a -f deep/c.py -a -f keep.log -a ! -e build -a ! -e x.log -a ! -e deep/b.pyc"
            " -a ! -e secret1.txt && test ! -e /docs/a.md -a -f /docs/b.txt"
        ),
        2,
    ),
    "owners and modes": Sample(
        """\
FROM debian:12
RUN echo "app:x:1000:1000::/home/app:/bin/sh" >> /etc/passwd && echo "app:x:1000:" >> /etc/group
COPY --chown=app:app --chmod=640 config /etc/app/
COPY --chown=12:34 run.sh /usr/local/bin/
COPY --chmod=0755 run.sh /usr/local/bin/other
""",
        {"config/a.ini": "a\n", "run.sh": "#!/bin/sh\n"},
        ("test $(stat -c %a /etc/app/a.ini) = 640 && test $(stat -c %a /usr/local/bin/other) = 755"),
        4,
    ),
    "a user of its own": Sample(
        """\
FROM debian:12
RUN echo "agent:x:1000:1000::/home/agent:/bin/sh" >> /etc/passwd \\
 && mkdir -p /home/agent && chown 1000:1000 /home/agent
USER agent
WORKDIR /home/agent/work
RUN id -u > me && echo "$HOME" >> me
USER root
RUN chown 0:0 /home/agent/work/me && id -u >> /home/agent/work/me
""",
        says="cd /home/agent/work && grep -qx 1000 me && grep -qx /home/agent me && grep -qx 0 me"
        " && test $(stat -c %u:%g me) = 0:0 && test $(stat -c %u .) = 1000",
        steps=4,
        needs_users=True,
    ),
    "the exec form and an entry point": Sample(
        """\
FROM debian:12
RUN ["mkdir", "-p", "/data dir"]
RUN ["sh", "-c", "echo $0 > '/data dir/x'", "name"]
ENTRYPOINT ["sh", "-c"]
CMD ["cat '/data dir/x'"]
""",
        says="grep -qx name '/data dir/x'",
        steps=2,
    ),
    "a secret that is in no layer": Sample(
        """\
FROM debian:12
RUN --mount=type=secret,id=token,required=true test "$(cat /run/secrets/token)" = 'very secret'
RUN --mount=type=secret,id=token,target=/etc/token --mount=type=secret,id=token,env=TOKEN \\
    test "$(cat /etc/token)" = "$TOKEN"
""",
        says="test ! -e /run/secrets/token -a ! -e /etc/token",
        steps=2,
    ),
    "a cache and a bind mount": Sample(
        """\
FROM debian:12 AS files
RUN mkdir /given && echo given > /given/file
FROM debian:12
RUN --mount=type=cache,target=/var/cache/tool,id=tool echo more >> /var/cache/tool/log && cp /var/cache/tool/log /log
RUN --mount=type=bind,source=in.txt,target=/srv/one.txt grep -qx in /srv/one.txt && cp /srv/one.txt /one
RUN --mount=type=bind,source=.,target=/ctx --mount=type=bind,from=files,source=/given,target=/given \\
    --mount=type=tmpfs,target=/scratch \\
    cat /ctx/in.txt /given/file > /scratch/both && cp /scratch/both /both
""",
        {"in.txt": "in\n"},
        "grep -qx more /log && test ! -e /var/cache/tool/log -a ! -e /ctx/in.txt -a ! -e /given -a ! -e /scratch/both"
        " && grep -qx in /both && grep -qx given /both && grep -qx in /one && test ! -e /srv/one.txt",
        4,
    ),
    "links of the image are followed within it": Sample(
        """\
FROM debian:12
RUN ln -s /opt/real /linked && mkdir -p /opt/real && ln -s ../../../../../../opt/real /opt/climbs
COPY file.txt /linked/
COPY file.txt /opt/climbs/again.txt
COPY tool /bin/tool
""",
        {"file.txt": "f\n", "tool": "#!/bin/sh\n"},
        "test -f /opt/real/file.txt -a -f /opt/real/again.txt -a -L /linked -a -L /bin -a -f /usr/bin/tool",
        4,
    ),
    "Python with the standard library alone": Sample(
        """\
FROM python:3.11-slim
ENV PYTHONUNBUFFERED=1 \\
    PYTHONDONTWRITEBYTECODE=1
WORKDIR /srv/app
COPY --chmod=644 app.py ./
RUN python3 -c "import compileall; assert compileall.compile_file('app.py', quiet=1)" \\
 && python3 app.py > built
CMD ["python3", "app.py"]
""",
        {"app.py": "import json\nprint(json.dumps({'built': True}))\n"},
        """grep -q '"built": true' /srv/app/built""",
        3,
    ),
    "a backtick escapes, and an old ENV": Sample(
        """\
# escape=`
# a comment
FROM debian:12
MAINTAINER Somebody <somebody@example.org>
ENV OLD_FORM with several words
RUN echo "$OLD_FORM" > /said && `
    echo 'C:\\path' >> /said
EXPOSE 80 443/tcp 53/udp 8000-8002
VOLUME /data /logs
""",
        says="grep -qx 'with several words' /said && grep -qF 'C:' /said",
        steps=1,
    ),
    "removals, directories and wildcards": Sample(
        """\
FROM debian:12
COPY lib*/*.so? one.tx[t] /in/
RUN mkdir -p /var/big && echo big > /var/big/file
RUN rm -r /var/big && mkdir /var/big && echo small > /var/big/other
COPY --parents lib1/a.so1 docs/./deep/x.md /parents/
""",
        {"lib1/a.so1": "", "lib2/b.so2": "", "lib2/c.txt": "", "one.txt": "", "docs/deep/x.md": ""},
        "cd /in && test -f a.so1 -a -f b.so2 -a ! -e c.txt -a -f one.txt && cd /var/big && test ! -e file -a -f other"
        " && test -f /parents/lib1/a.so1 -a -f /parents/deep/x.md",
        4,
    ),
    "a Python service with its packages from a folder of wheels": Sample(
        """\
FROM python:3.11-slim AS wheels
WORKDIR /wheels
COPY vendor /vendor
RUN cd /vendor && python3 -m zipfile -c /wheels/greeting-1.2-py3-none-any.whl greeting greeting-1.2.dist-info
FROM python:3.11-slim
WORKDIR /app
COPY requirements.txt requirements.txt
RUN --mount=type=bind,from=wheels,source=/wheels,target=/wheels \\
    python3 -m pip install --no-index --find-links /wheels --no-cache-dir --root-user-action=ignore -r requirements.txt
COPY . .
ENV FLASK_APP=app.py
EXPOSE 5000
CMD ["python3", "app.py"]
""",
        {
            "requirements.txt": "greeting==1.2\n",
            "app.py": "import greeting\nprint(greeting.hello())\n",
            "vendor/greeting/__init__.py": "def hello():\n    return 'hello'\n",
            "vendor/greeting-1.2.dist-info/METADATA": "Metadata-Version: 2.1\nName: greeting\nVersion: 1.2\n",
            "vendor/greeting-1.2.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
            "vendor/greeting-1.2.dist-info/RECORD": (
                "greeting/__init__.py,,\ngreeting-1.2.dist-info/METADATA,,\n"
                "greeting-1.2.dist-info/WHEEL,,\ngreeting-1.2.dist-info/RECORD,,\n"
            ),
        },
        'test "$(python3 app.py)" = hello && ! test -e /wheels && python3 -m pip show -q greeting',
        7,
    ),
    "a virtual environment that is copied": Sample(
        """\
FROM python:3.11-slim AS builder
RUN python3 -m venv --without-pip /opt/venv
ENV PATH="/opt/venv/bin:$PATH"
RUN mkdir -p "$(python3 -c 'import sysconfig; print(sysconfig.get_path("purelib"))')"
COPY tool.py /opt/venv/lib/python3.11/site-packages/tool.py
FROM python:3.11-slim AS runtime
COPY --from=builder /opt/venv /opt/venv
ENV PATH="/opt/venv/bin:$PATH" VIRTUAL_ENV=/opt/venv
RUN echo "app:x:1000:1000::/nowhere:/bin/sh" >> /etc/passwd
USER app
CMD ["python3", "-m", "tool"]
""",
        {"tool.py": "import sys\nprint(sys.prefix)\n"},
        'test "$(python3 -m tool)" = /opt/venv',
        5,
    ),
    "packages of a repository that is a folder": Sample(
        """\
FROM debian:bookworm AS packages
WORKDIR /repo
COPY tool /build/tool
RUN chmod 755 /build/tool/DEBIAN/postinst /build/tool/usr/bin/tool \\
 && dpkg-deb --root-owner-group --build /build/tool tool_1.0_all.deb \\
 && cat /build/tool/DEBIAN/control > Packages \\
 && echo "Filename: ./tool_1.0_all.deb" >> Packages \\
 && echo "Size: $(stat -c %s tool_1.0_all.deb)" >> Packages \\
 && echo "SHA256: $(sha256sum tool_1.0_all.deb | cut -d' ' -f1)" >> Packages
FROM debian:bookworm
ENV DEBIAN_FRONTEND=noninteractive
COPY --from=packages /repo /repo
RUN rm -f /etc/apt/sources.list.d/* && echo 'deb [trusted=yes] file:/repo ./' > /etc/apt/sources.list \\
 && apt-get update && apt-get install -y --no-install-recommends tool=1.* \\
 && rm -rf /var/lib/apt/lists/*
CMD ["tool"]
""",
        {
            "tool/DEBIAN/control": (
                "Package: tool\nVersion: 1.0\nArchitecture: all\nMaintainer: A <a@example.org>\nDescription: a tool\n"
            ),
            "tool/DEBIAN/postinst": "#!/bin/sh\nset -e\necho configured > /etc/tool\n",
            "tool/usr/bin/tool": "#!/bin/sh\necho works\n",
        },
        'test "$(tool)" = works && grep -qx configured /etc/tool'
        ' && dpkg -s tool | grep -qx "Status: install ok installed"',
        5,
        needs_users=True,
    ),
    "a Node service with packages of a lock": Sample(
        """\
ARG NODE_VERSION=20
FROM node:${NODE_VERSION}-slim AS deps
WORKDIR /usr/src/app
COPY vendor ./vendor
COPY package.json package-lock.json ./
RUN --mount=type=cache,target=/root/.npm npm ci --omit=dev --offline --no-audit --no-fund
FROM deps AS final
ENV NODE_ENV=production
COPY server.js .
EXPOSE 3000
CMD ["node", "server.js"]
""",
        {
            "package.json": (
                '{"name": "service", "version": "1.0.0", "dependencies": {"greeting": "file:vendor/greeting"}}\n'
            ),
            "package-lock.json": (
                '{"name": "service", "version": "1.0.0", "lockfileVersion": 3, "requires": true, "packages": {'
                '"": {"name": "service", "version": "1.0.0", "dependencies": {"greeting": "file:vendor/greeting"}},'
                '"node_modules/greeting": {"resolved": "vendor/greeting", "link": true},'
                '"vendor/greeting": {"version": "1.2.0"}}}\n'
            ),
            "vendor/greeting/package.json": '{"name": "greeting", "version": "1.2.0", "main": "index.js"}\n',
            "vendor/greeting/index.js": "module.exports = () => 'hello';\n",
            "server.js": "console.log(require('greeting')());\n",
        },
        'test "$(node server.js)" = hello',
        5,
    ),
    "an entry point that takes arguments": Sample(
        """\
FROM debian:12
ARG UID=1000
ENV DATA=/var/lib/service
RUN set -eux; echo "service:x:$UID:$UID::$DATA:/bin/sh" >> /etc/passwd; echo "service:x:$UID:" >> /etc/group; \\
    mkdir -p "$DATA"; chmod 700 "$DATA"
COPY --chmod=755 docker-entrypoint.sh /usr/local/bin/
RUN ln -s usr/local/bin/docker-entrypoint.sh /
VOLUME /var/lib/service
ENTRYPOINT ["docker-entrypoint.sh"]
CMD ["serve"]
""",
        {"docker-entrypoint.sh": '#!/bin/sh -e\n[ "$1" != serve ] || set -- sh -c "echo serves $DATA"\nexec "$@"\n'},
        'cd / && test "$(/docker-entrypoint.sh serve)" = "serves /var/lib/service"'
        ' && test "$(/docker-entrypoint.sh pwd)" = /',
        3,
    ),
    "a repository of git with its history": Sample(
        """\
FROM debian:git
SHELL ["/bin/bash", "-o", "pipefail", "-c"]
WORKDIR /testbed
COPY . .
RUN git config --global user.email a@example.org && git config --global user.name A \\
 && git init -q -b main && git add -A && git commit -qm "the task" && git tag v1
RUN echo change >> README && git commit -qam change && git reset -q --hard v1
RUN (false | cat) || echo "the pipe has failed" > /pipe
""",
        {"README": "read\n", "src/a.c": "int a;\n", ".dockerignore": ".dockerignore\n"},
        'cd /testbed && grep -qx read README && test -z "$(git status --porcelain)"'
        ' && test $(git rev-list --count v1) = 1 && grep -q "has failed" /pipe',
        5,
    ),
    "triggers, and a stage that an argument names": Sample(
        """\
ARG VARIANT=small
FROM debian:12 AS base
WORKDIR /base
ONBUILD COPY for-all.txt /base/
ONBUILD RUN cat /base/for-all.txt > /base/triggered
FROM base AS build-small
RUN echo small > /variant
FROM base AS build-large
RUN exit 1
FROM build-${VARIANT} AS final
RUN cat /variant /base/triggered > /both
""",
        {"for-all.txt": "for all\n"},
        'test "$(cat /both)" = "$(printf \'small\\nfor all\')"',
        5,
        triggers=2,
    ),
}
