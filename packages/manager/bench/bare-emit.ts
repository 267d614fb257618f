// Benchmark baseline: Node's HTTP server with one transaction per notification. Each transaction finds the recipients
// and writes the same rows as the service, but checks no tokens, limits or settings.
//   node bench/bare-emit.ts <database url> <connections>
import { randomUUID } from 'node:crypto'
import { type IncomingMessage, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { Pool } from 'pg'
import { v7 } from 'uuid'

const [databaseUrl = '', connections = '4'] = process.argv.slice(2)
const pool = new Pool({ connectionString: databaseUrl, max: Number(connections) })

type Body = {
  application_id: string
  tenant_id: string
  recipients: string[]
  type: string
  title: string
  body: string
  dedupe_key: string
}

const createStatement = (name: string, text: string) => ({ name, text })
const claimKey = createStatement(
  'claim',
  `insert into notification_keys (tenant_id, application_id, key, fingerprint, notification_id, request_id,
     recipient_count, expires_at)
   values ($1, $2, $3, sha256(convert_to($3::text, 'UTF8')), $4, $5, $6, now() + interval '24 hours') on conflict do nothing`,
)
const resolveRecipients = createStatement(
  'resolve',
  `select m.user_id from unnest($2::uuid[]) as given (id)
   join user2tenants m on m.tenant_id = $1 and m.user_id = given.id
   join tenant_role_definitions d on d.tenant_id = m.tenant_id and d.name = m.role_name
   where 'apps.read' = any (d.permissions)`,
)
const insertContent = createStatement(
  'content',
  `insert into notifications (id, created_at, tenant_id, application_id, type, title, body, severity)
   values ($1, $2, $3, $4, $5, $6, $7, 'info')`,
)
const insertRecipients = createStatement(
  'recipients',
  `insert into notification_recipients (tenant_id, application_id, user_id, created_at, notification_id, type)
   select $1, $2, user_id, $3, $4, $5 from unnest($6::uuid[]) as user_id`,
)

async function emit(body: Body): Promise<object> {
  const createdAt = new Date()
  const [id, requestId] = [v7({ msecs: createdAt.getTime() }), randomUUID()]
  const { tenant_id, application_id } = body
  const client = await pool.connect()
  try {
    await client.query('begin')
    const { rows } = await client.query<{ user_id: string }>({
      ...resolveRecipients,
      values: [tenant_id, body.recipients],
    })
    const users = rows.map(({ user_id }) => user_id)
    const keyValues = [tenant_id, application_id, body.dedupe_key, id, requestId, users.length]
    await client.query({ ...claimKey, values: keyValues })
    const contentValues = [id, createdAt, tenant_id, application_id, body.type, body.title, body.body]
    await client.query({ ...insertContent, values: contentValues })
    const recipientValues = [tenant_id, application_id, createdAt, id, body.type, users]
    await client.query({ ...insertRecipients, values: recipientValues })
    await client.query('commit')
    return { notification_id: id, request_id: requestId, recipient_count: users.length }
  } finally {
    client.release()
  }
}

const handleRequest = async (request: IncomingMessage): Promise<string> =>
  JSON.stringify(await emit((await json(request)) as Body))

const server = createServer((request, response) => {
  void handleRequest(request).then(
    (text) => response.writeHead(202, { 'content-type': 'application/json' }).end(text),
    () => response.writeHead(500).end(),
  )
})
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${(server.address() as AddressInfo).port}\n`)
})
