// A small, mixed workload on processes that Prometheus scrapes.
import { randomUUID } from 'node:crypto'
import { type Person, headersOf } from '@manager/harness/callers.ts'
import { heartbeat } from '@manager/harness/backends.ts'
import { startTriggerScene } from './callbacks.ts'
import { emit, generousLimits, targetFields, publish, seedTenantMember } from './comms.ts'
import { bearer, createToken, validate } from '@manager/harness/credentials.ts'
import { gatewayScene } from './gateway.ts'
import { postQuery } from '@manager/harness/graphql.ts'
import { freshClient } from './machines.ts'
import { type ServiceProcess, startProcess } from '@manager/harness/process.ts'
import { seedMachineUser, seedUser } from '@manager/harness/seed.ts'
import { type Seat, openSocket, seatHeaders } from './sockets.ts'
import { startUpstream } from './upstream.ts'

type Replica = Pick<ServiceProcess, 'url'>
type Work = { name: string; perSecond: number; send: (to: Replica) => Promise<unknown> }

const env = {
  ...generousLimits,
  SVC_CALLBACKS_ALLOWED_CIDRS: '127.0.0.0/8',
  SVC_AUDIT_CHECKPOINT_INTERVAL_MS: '2000',
  SVC_AUDIT_VERIFY_INTERVAL_MS: '2000',
}

/** Starts two processes with all roles, and creates users, backends and partners. `work` is the workload. */
export async function startObserved() {
  const scene = await startTriggerScene()
  const { service, project } = scene
  const gateway = await gatewayScene(service, 'partners')
  const partner = await startUpstream()
  const processes = await Promise.all([0, 1].map(() => startProcess(service.database.url, env)))
  const good = await gateway.endpoint({ url: partner.url })
  const dead = await gateway.endpoint({ url: 'http://127.0.0.1:9' })
  const person = await seedUser(service.sql, 'caller')
  const { token: pat } = await createToken(service, person)
  const { token: emitter } = await seedMachineUser(service.sql, project)
  const registration = await scene.register()
  for (let index = 0; index < 10; index++) await scene.createTrigger({ name: `trigger ${index}` })
  const userIds: string[] = []
  for (let index = 0; index < 20; index++) userIds.push(await seedTenantMember(service, project))
  const seats: Seat[] = userIds.map((userId) => ({ userId, ...project }))
  const sockets = seats.map((seat, index) => openSocket((processes[index % 2] as Replica).url, seat))
  await Promise.all(sockets.map(({ hello }) => hello))
  const call = ({ url }: Replica, path: string) =>
    fetch(url + path, { method: 'POST', headers: bearer(gateway.machine.token), body: '{"order":1}' })
  const work: Work[] = [
    { name: 'query', perSecond: 20, send: ({ url }) => ask(url, scene.admin) },
    {
      name: 'validate',
      perSecond: 10,
      send: ({ url }) => validate(url, `Bearer ${pat}`, project.applicationId),
    },
    { name: 'guess', perSecond: 0.5, send: ({ url }) => guess(url, project.applicationId) },
    { name: 'call', perSecond: 20, send: (to) => call(to, good.path) },
    { name: 'dead call', perSecond: 1, send: (to) => call(to, dead.path) },
    {
      name: 'heartbeat',
      perSecond: 2,
      send: (to) => heartbeat(to, registration.machine.token, registration.id),
    },
    {
      name: 'emit',
      perSecond: 5,
      send: (to) => emit(to, emitter, { ...targetFields(project), title: 'news' }),
    },
    {
      name: 'publish',
      perSecond: 10,
      send: (to) => publish(to, emitter, { ...targetFields(project), topic: 't', data: 1 }),
    },
    { name: 'unread', perSecond: 5, send: ({ url }) => unread(url, seats[0] as Seat) },
    {
      name: 'runs',
      perSecond: 0.5,
      send: () =>
        service.sql.query(
          `update triggers set next_fire_at = date_trunc('second', now()) where project_id = $1`,
          [project.id],
        ),
    },
  ]
  return {
    processes,
    work,
    close: async (): Promise<void> => {
      for (const { client } of sockets) client.terminate()
      for (const { child, exit } of processes) {
        child.kill('SIGKILL')
        await exit
      }
      await partner.close()
      await scene.close()
    },
  }
}

const ask = (url: string, person: Person) => postQuery(url, headersOf(person), '{ projects { id name } }')
/** Sends a wrong password. It uses a new client address each time, so that no client is blocked. */
const guess = (url: string, applicationId: string) =>
  validate(
    url,
    `Basic ${Buffer.from(`nobody:${randomUUID()}`).toString('base64')}`,
    applicationId,
    freshClient(),
  )
const unread = (url: string, seat: Seat) =>
  fetch(`${url}/api/proxy/comms/${seat.applicationId}/unread`, { headers: seatHeaders(seat) })

/**
 * Runs the workload for `seconds`, alternating between the processes. Returns how often each work item ran, and the
 * failures.
 */
export async function doWork(work: readonly Work[], processes: readonly Replica[], seconds: number) {
  const done: Record<string, number> = {}
  const failed: string[] = []
  const until = performance.now() + seconds * 1_000
  await Promise.all(
    work.map(async ({ name, perSecond, send }) => {
      for (let turn = 0; performance.now() < until; turn++) {
        await send(processes[turn % processes.length] as Replica).then(
          () => (done[name] = (done[name] ?? 0) + 1),
          (error: unknown) => failed.push(`${name}: ${String(error)}`),
        )
        await new Promise((resolve) => setTimeout(resolve, 1_000 / perSecond))
      }
    }),
  )
  return { done, failed }
}
