// The upstream to which both the service and the bare proxy forward. It sends a small response to every
// request.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

const responseBody = JSON.stringify({ accepted: true, reference: 'a'.repeat(200) })
const server = createServer((request, response) => {
  request.resume()
  request.on('end', () => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': responseBody.length })
    response.end(responseBody)
  })
})
server.listen(0, '127.0.0.1', () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`))
