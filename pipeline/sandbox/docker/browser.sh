# Install Debian's Chromium with its driver and a font: run as root in a container of the base image (browser.py).
set -eu
apt-get update --quiet=2
apt-get install --yes --quiet=2 --no-install-recommends chromium chromium-driver fonts-liberation
apt-get clean
rm -rf /var/lib/apt/lists/*
# Debian's own start of Chromium reads this folder. A container gives no rights for a sandbox inside, and a screen, a
# keyring or an update are nothing that tests wait for.
echo 'export CHROMIUM_FLAGS="$CHROMIUM_FLAGS --no-sandbox --no-first-run --disable-component-update --disable-sync"' \
    >/etc/chromium.d/a11y-bench
# what looks for Google's finds this one
install -d /opt/google/chrome
ln -s /usr/bin/chromium /opt/google/chrome/chrome
for name in google-chrome google-chrome-stable chromium-browser; do ln -s /usr/bin/chromium "/usr/local/bin/$name"; done
# every user may add what Playwright's packages look for
install -d -m 1777 /opt/browsers
