// Compares notifications per second with a bare program that writes each notification in its own transaction, in
// alternating rounds. Every request has a unique key.
//   node bench/comms.ts [--rounds 12] [--seconds 5] [--connections 1,16,64] [--recipients 10] [--bare-connections 4,10]
import { parseArgs } from 'node:util'
import { Pool } from 'pg'
import { createScratchDatabase } from '../test/kit/databases.ts'
import { targetFields, seedTenantMember } from '../test/kit/comms.ts'
import { seedMachineUser, seedProject } from '@manager/harness/seed.ts'
import { uniquePart } from './load.ts'
import { compare, printLine, startBare, startService } from './sides.ts'

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '12' },
    seconds: { type: 'string', default: '5' },
    connections: { type: 'string', default: '1,16,64' },
    recipients: { type: 'string', default: '10' },
    'bare-connections': { type: 'string', default: '4,10' },
  },
})
const [rounds, seconds, recipients] = [options.rounds, options.seconds, options.recipients].map(Number) as [
  number,
  number,
  number,
]
const parseNumbers = (list: string): number[] => list.split(',').map(Number)

const database = await createScratchDatabase()
const sql = new Pool({ connectionString: database.url, max: 2 })
const project = await seedProject(sql, 'bench')
const { token } = await seedMachineUser(sql, project)
const members: string[] = []
for (let n = 0; n < 200; n++) members.push(await seedTenantMember({ sql }, project))
await sql.query('analyze')
const bodies = Array.from({ length: 20 }, (_, n) =>
  JSON.stringify({
    ...targetFields(project),
    type: 'order.shipped',
    title: `Order ${n} has left the house`,
    body: 'It is on its way and will be with you by tomorrow evening.',
    dedupe_key: uniquePart,
    recipients: Array.from({ length: recipients }, (_, at) => members[(n * 7 + at) % members.length]),
  }),
)

const unlimitedRate = { SVC_COMMS_EMIT_RATE: '1000000', SVC_COMMS_EMIT_BURST: '1000000' }
const service = await startService(database.url, unlimitedRate)
const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
const requests = { bodies, path: '/api/machine/comms/emit' }

printLine(
  `notifications to ${recipients} users with unique keys, ${rounds} alternating rounds of ${seconds} s; ratio = Manager / baseline`,
)
for (const bareConnections of parseNumbers(options['bare-connections'])) {
  const bare = await startBare('./bare-emit.ts', [database.url, String(bareConnections)])
  for (const connections of parseNumbers(options.connections))
    await compare({
      name: `emit, ${bareConnections} bare database connections`,
      service: { side: service, load: { url: service.url, headers, requests } },
      bare: { side: bare, load: { url: bare.url, headers, requests } },
      connections,
      rounds,
      seconds,
    })
  bare.stop()
}
service.stop()
await sql.end()
await database.drop()
