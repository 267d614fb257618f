// Backends of the demo applications that have no separate program. The Deliveries backends are live; their carrier is
// sometimes busy, so some runs need a second attempt. The last heartbeat of the Billing backend is three hours old.
import { createServer } from 'node:http'
import { buffer } from 'node:stream/consumers'
import {
  type Connection,
  type Registration,
  CallbackError,
  registerBackend,
  sendForJson,
} from '@manager/client'
import { sql } from 'kysely'
import type { Database } from '../src/platform/postgres/database.ts'
import type { DemoShop } from './demo-data.ts'
import { listen } from './demo-forward.ts'
import { silentHours } from './demo-history-runs.ts'
import type { MachineUserKey } from './demo-world.ts'

/** Returns a connection with the token of a machine user. */
export type ConnectMachine = (key: MachineUserKey) => Connection

const liveKeys = ['deliveries', 'deliveries-qas'] as const
const version = '4.2.0'

/** Starts the live backends on a free loopback port. `close` unregisters them. */
export async function startBackends(connectMachine: ConnectMachine, { applications }: DemoShop) {
  const registrations = new Map<string, Registration>()
  const isBusyFor = createBusyCarrier()
  const server = createServer((request, response) => {
    const receive = async (): Promise<number> => {
      const registration = registrations.get(request.url ?? '')
      if (registration === undefined) return 404
      const callback = await registration.verify({ headers: request.headers, body: await buffer(request) })
      return callback.runKey === 'tracking' && isBusyFor(callback.id) ? 503 : 204
    }
    const status = receive().catch((error: unknown) => (error instanceof CallbackError ? error.status : 500))
    void status.then((code) => response.writeHead(code).end())
  })
  const { port, close } = await listen(server, 0)
  for (const key of liveKeys) {
    const path = `/${key}`
    const callbackUrl = `http://127.0.0.1:${port}${path}`
    const options = { applicationId: applications.deliveries.id, callbackUrl, version }
    registrations.set(path, await registerBackend(connectMachine(key), options))
  }
  return {
    close: async (): Promise<void> => {
      await Promise.allSettled([...registrations.values()].map((registration) => registration.close()))
      await close()
    },
  }
}

/** Returns a function that reports whether the carrier is busy. It is busy on the first attempt of every fifth run. */
function createBusyCarrier(): (run: string) => boolean {
  const seen = new Set<string>()
  return (run) => {
    const isFirst = !seen.has(run)
    seen.add(run)
    return isFirst && seen.size % 5 === 0
  }
}

/** Registers the backend of Billing, and moves its last heartbeat into the past. */
export async function registerSilentBackend(
  connectMachine: ConnectMachine,
  { applications }: DemoShop,
  { db }: Database,
): Promise<void> {
  await sendForJson(connectMachine('billing'), {
    method: 'POST',
    path: '/api/machine/register-backend',
    json: { application_id: applications.billing.id, callback_url: 'http://127.0.0.1:9/callbacks', version },
    isRepeatable: true,
  })
  await sql`
    update backend_registrations set last_heartbeat = now() - make_interval(hours => ${silentHours}::integer)
    where application_id = ${applications.billing.id}::uuid`.execute(db.write)
}
