// Compares an inbox page of 20 rows with the same statement on Node's HTTP server, in alternating rounds. The table
// contains many other rows.
//   node bench/comms-inbox.ts [--rounds 12] [--seconds 5] [--connections 16,64] [--rows 100000]
import { parseArgs } from 'node:util'
import { Pool } from 'pg'
import { tenantHeaders } from '../test/kit/inbox.ts'
import { createScratchDatabase } from '../test/kit/databases.ts'
import { seedMember, seedProject, seedUser } from '@manager/harness/seed.ts'
import { encodeCursor } from '../src/features/inbox/inbox-cursor.pure.ts'
import { createPageValues } from '../src/features/inbox/inbox.store.ts'
import { compare, printLine, startBare, startService } from './sides.ts'

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '12' },
    seconds: { type: 'string', default: '5' },
    connections: { type: 'string', default: '16,64' },
    rows: { type: 'string', default: '100000' },
  },
})
const [rounds, seconds, rows] = [options.rounds, options.seconds, options.rows].map(Number) as [
  number,
  number,
  number,
]
/** The default number of database connections that the service uses for large reads. */
const poolSize = 2

const database = await createScratchDatabase()
const sql = new Pool({ connectionString: database.url, max: 1 })
const project = await seedProject(sql, 'bench')
const reader = await seedUser(sql, 'reader')
await seedMember(sql, reader, 'member', { projectId: project.id, tenantId: project.tenantId })
await sql.query(
  `with made as (
    insert into notification_recipients (tenant_id, application_id, user_id, created_at, notification_id, type)
    select $1, $2, case when n % 10 = 0 then $3::uuid else md5((n % 997)::text)::uuid end, at,
      (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || '70008' || lpad(to_hex(n), 15, '0'))::uuid,
      'orders.late'
    from (select n, date_trunc('milliseconds', now() - n * interval '1 day' / $4::int) as at
      from generate_series(1, $4::int) n) rows
    returning *
  )
  insert into notifications (id, created_at, tenant_id, application_id, type, title, body, severity, link, data)
  select notification_id, created_at, tenant_id, application_id, type, 'Order 4711 is late',
    'The order will arrive a day later than was promised.', 'warning', '/orders/4711', '{"order": 4711, "days": 1}'
  from made where user_id = $3`,
  [project.tenantId, project.applicationId, reader.id, rows],
)
await sql.query('vacuum analyze')

const service = await startService(database.url)
// Each path starts at a different row, so that consecutive requests read different pages.
const { rows: keys } = await sql.query<{ at: Date; id: string }>(
  `select created_at as at, notification_id as id from notification_recipients where user_id = $1
   order by created_at desc, notification_id desc limit 128`,
  [reader.id],
)
const inboxId = { tenantId: project.tenantId, applicationId: project.applicationId, userId: reader.id }
const values = keys.map(({ at, id }) =>
  createPageValues([{ inboxId, before: { createdAt: at.toISOString(), id }, type: null }], '2160 hours', 21),
)
const bare = await startBare('./bare-inbox.ts', [database.url, String(poolSize), JSON.stringify(values)])

const headers = Object.fromEntries(tenantHeaders(reader, project))
const paths = keys.map(
  ({ id }) => `/api/proxy/comms/${project.applicationId}/notifications?cursor=${encodeCursor(id)}`,
)
const firstResponse = await fetch(`${service.url}${paths[0]}`, { headers })
const { notifications } = (await firstResponse.json()) as { notifications: unknown[] }
if (notifications.length !== 20)
  throw new Error(`the first page must contain 20 notifications, but contains ${notifications.length}`)

printLine(`${rows} rows, ${rounds} alternating rounds of ${seconds} s; ratio = Manager / baseline`)
for (const connections of options.connections.split(',').map(Number))
  await compare({
    name: 'inbox page of 20',
    service: { side: service, load: { url: service.url, headers, requests: { paths } } },
    bare: { side: bare, load: { url: bare.url, headers, requests: { paths } } },
    connections,
    rounds,
    seconds,
  })
service.stop()
bare.stop()
await sql.end()
await database.drop()
