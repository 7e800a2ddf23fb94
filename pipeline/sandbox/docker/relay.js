// The container's end of an agent's way out; relay.py is the other. Every connection to PORT on the container's own
// loopback becomes frames on standard output, and frames on standard input become what it receives. A frame is the
// number of a connection and a length (4 bytes each, big endian), then as many bytes; none: the connection is over.
// Number 0 is a greeting, which is returned once the port is open. For every Node from 4.5.
"use strict";
const net = require("net");

const HEAD = 8;
const NOTHING = Buffer.alloc(0);
const connections = new Map();
let last = 0;
let rest = NOTHING;

function send(number, data) {
  const head = Buffer.alloc(HEAD);
  head.writeUInt32BE(number, 0);
  head.writeUInt32BE(data.length, 4);
  process.stdout.write(Buffer.concat([head, data]));
}

// Numbers are given when a client first speaks, so that the other end sees them grow.
const server = net.createServer((socket) => {
  let number = 0;
  socket.on("data", (data) => {
    if (!number) connections.set((number = ++last), socket);
    send(number, data);
  });
  socket.on("error", () => {}); // "close" follows
  socket.on("close", () => {
    if (connections.delete(number)) send(number, NOTHING);
  });
});

function receive(number, data) {
  const socket = connections.get(number);
  if (number === 0) server.listen(Number(process.argv[2]), "127.0.0.1", () => send(0, NOTHING));
  else if (socket && data.length) socket.write(data);
  else if (socket) socket.end();
}

process.stdin.on("data", (chunk) => {
  rest = Buffer.concat([rest, chunk]);
  while (rest.length >= HEAD && rest.length >= HEAD + rest.readUInt32BE(4)) {
    const end = HEAD + rest.readUInt32BE(4);
    receive(rest.readUInt32BE(0), rest.slice(HEAD, end));
    rest = rest.slice(end);
  }
});
process.stdin.on("end", () => process.exit());
