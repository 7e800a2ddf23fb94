// The container's end of a relay; relay.py is the other. The arguments are addresses on the container's loopback
// (ADDRESS:PORT). Every connection to one of them becomes frames on standard output, and receives the frames on standard
// input. A frame is the number of a connection and a length (4 bytes each, big endian), followed by the data; length 0
// ends the connection. The first 2 bytes of a connection are the index of its address among the arguments. Number 0 is a
// greeting, which is returned once all ports are open. For Node 4.5 and later.
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

// Numbers are assigned when a client first sends data, so they arrive at the other end in order.
function serve(index) {
  const begin = Buffer.alloc(2);
  begin.writeUInt16BE(index, 0);
  return net.createServer((socket) => {
    let number = 0;
    socket.on("data", (data) => {
      if (number) return send(number, data);
      connections.set((number = ++last), socket);
      send(number, Buffer.concat([begin, data]));
    });
    socket.on("error", () => {}); // "close" follows
    socket.on("close", () => {
      if (connections.delete(number)) send(number, NOTHING);
    });
  });
}

function open(addresses) {
  let closed = addresses.length;
  addresses.forEach((text, index) => {
    const end = text.lastIndexOf(":");
    serve(index).listen(Number(text.slice(end + 1)), text.slice(0, end), () => --closed || send(0, NOTHING));
  });
}

function receive(number, data) {
  const socket = connections.get(number);
  if (number === 0) open(process.argv.slice(2));
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
