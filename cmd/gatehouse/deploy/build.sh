#!/bin/sh
# build.sh FOLDER [ARCH] makes FOLDER the root of the container image, for amd64 or arm64 (the machine's own if it is not
# given). In it are the program, which needs nothing else; the certificates that it trusts (time zones and the resolver
# are in the program); and the list of what the program is made of (CycloneDX).
# It needs Go, a C compiler (gcc-aarch64-linux-gnu or gcc-x86-64-linux-gnu for the other architecture), and the packages
# ca-certificates and libc6-dev. VERSION and REVISION, if they are set, are what "gatehouse version" prints.
set -eu
sbom=github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.10.0
certificates=/etc/ssl/certs/ca-certificates.crt
root=$(realpath -m "$1")
here=$(go env GOHOSTARCH)
arch=${2:-$here}
cd "$(dirname "$0")/../../.."

case $arch in
amd64) triple=x86_64-linux-gnu libc=libc6-dev-amd64-cross ;;
arm64) triple=aarch64-linux-gnu libc=libc6-dev-arm64-cross ;;
*) echo "build.sh: there is no image for $arch, only for amd64 and arm64" >&2 && exit 2 ;;
esac
if [ "$arch" = "$here" ]; then cc=gcc libc=libc6-dev; else cc=$triple-gcc; fi
for need in "$cc" go; do
  command -v "$need" >/dev/null || { echo "build.sh: $need is not installed" >&2 && exit 2; }
done
[ -e "$certificates" ] || { echo "build.sh: there is no $certificates: install ca-certificates" >&2 && exit 2; }

rm -rf "$root"
mkdir -p "$root${certificates%/*}"
cp "$certificates" "$root$certificates"
chmod 755 "$root"

# The SQLite driver is written in C, so the program is linked with a static glibc. The tags leave out what would load
# libraries of the system.
CGO_ENABLED=1 GOOS=linux GOARCH=$arch CC=$cc go build -trimpath -buildvcs=false \
  -tags 'osusergo netgo sqlite_omit_load_extension timetzdata' \
  -ldflags "-s -w -linkmode external -extldflags -static \
    -X main.stampedVersion=${VERSION:-} -X main.stampedRevision=${REVISION:-}" \
  -o "$root/gatehouse" ./cmd/gatehouse

# What Go has recorded in the program, and glibc, which Go does not know of. SQLite is in the module of its driver.
GOFLAGS='' go run "$sbom" bin -json -version "${VERSION:-unknown}" -output "$root/gatehouse.cdx.json" "$root/gatehouse"
glibc=$(dpkg-query -W -f '${Version}' "$libc")
sed -i "0,/^  \"components\": \[/s//&\n    {\"type\": \"library\", \"name\": \"glibc\", \"version\": \"$glibc\"},/" \
  "$root/gatehouse.cdx.json"
