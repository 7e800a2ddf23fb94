#!/bin/sh
# Sends the diff between a checkout and its first commit to the grader, and reports the verdict in the form of WAY:
#   harbor       as the reward in /logs/verifier; without a verdict, there is no reward
#   swe-bench    as one test, passed or failed, between SWE-bench's marks; without a verdict, there is no test
# A11Y_BENCH_GRADER is the grader's address as the container sees it, by default port 8765 of the host.
WAY="@WAY@" INSTANCE="@INSTANCE@" TOKEN="@TOKEN@"
export WAY INSTANCE TOKEN
cd "@ROOT@" || exit 1
PATCH="$(mktemp)"
export PATCH
(
@DIFFERENCE@
) > "$PATCH" || exit 1
[ "$WAY" = swe-bench ] && echo '>>>>> Start Test Output'
node - <<'SCRIPT'
var fs = require('fs'), http = require('http'), url = require('url');

function gateway() {
  // the gateway of the first default route, a hexadecimal number with its last byte first
  var lines = fs.readFileSync('/proc/net/route', 'utf8').split('\n');
  for (var i = 1; i < lines.length; i++) {
    var words = lines[i].split(/\s+/);
    if (words[1] === '00000000') {
      return words[2].match(/../g).reverse().map(function (two) { return parseInt(two, 16); }).join('.');
    }
  }
  return '127.0.0.1';
}

var way = process.env.WAY;
var base = process.env.A11Y_BENCH_GRADER || 'http://' + gateway() + ':8765';
var where = url.parse(base.replace(/\/$/, '') + '/grade/' + process.env.INSTANCE);
var patch = fs.readFileSync(process.env.PATCH);
var asked = http.request({
  method: 'POST', hostname: where.hostname, port: where.port, path: where.path,
  headers: { Authorization: 'Bearer ' + process.env.TOKEN, 'Content-Length': patch.length }
}, function (answer) {
  var parts = [];
  answer.on('data', function (part) { parts.push(part); });
  answer.on('end', function () {
    var text = Buffer.concat(parts).toString();
    if (answer.statusCode !== 200) { return fail(answer.statusCode + ' ' + text); }
    say(JSON.parse(text), text);
  });
});
asked.on('error', function (error) { fail(String(error)); });
asked.end(patch);

function say(verdict, text) {
  if (way === 'swe-bench') {
    console.log((verdict.resolved ? 'PASSED' : 'FAILED') + ' a11y-bench-verdict');
  } else {
    fs.writeFileSync('/logs/verifier/verdict.json', text);
    fs.writeFileSync('/logs/verifier/reward.txt', verdict.resolved ? '1\n' : '0\n');
  }
  console.error(verdict.outcome + ' ' + verdict.cause);
}

function fail(why) {
  console.error('no verdict from ' + base + ': ' + why);
  process.exit(1);
}
SCRIPT
CODE=$?
[ "$WAY" = swe-bench ] && echo '>>>>> End Test Output'
exit $CODE
