// Hostile projects that use as much of a scarce resource as they can until they are stopped. Each flood exhausts a
// different resource.
import { randomBytes, randomUUID } from 'node:crypto'
import { type SharedProject, type SharedScene, bundleBytes, bundlePath } from './shared-scene.ts'
import { headersOf, proxySecret } from '@manager/harness/callers.ts'
import { nextClient, post } from './flood-client.ts'
import { boundary, formPart, piletPath } from '@manager/harness/pilets.ts'
import { openRaw } from './raw-socket.ts'
import { seedTrigger } from './triggers.ts'

export type Flood = (scene: SharedScene) => Promise<() => Promise<void>>

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
/** Repeats a step in `count` concurrent loops. A failed step is retried after 20 ms. */
function inLoops(count: number, step: (index: number, signal: AbortSignal) => Promise<void>) {
  const controller = new AbortController()
  const loop = async (index: number): Promise<void> => {
    while (!controller.signal.aborted) await step(index, controller.signal).catch(() => pause(20))
  }
  const running = Array.from({ length: count }, (_, index) => loop(index))
  return async (): Promise<void> => {
    controller.abort()
    await Promise.all(running)
  }
}
const hostileProject = ({ hostile }: SharedScene, index: number): SharedProject =>
  hostile[index % hostile.length] as SharedProject

/** Clients that read large bundles at only 16 KB/s. */
const slowReaders: Flood = async (scene) =>
  inLoops(16, async (index, signal) => {
    const raw = await openRaw(scene.running.url)
    raw.socket.pause()
    raw.send(
      `GET ${bundlePath(hostileProject(scene, index), `large-${index % 2}`)} HTTP/1.1\r\nhost: h\r\nx-proxy-auth: ${proxySecret}\r\nx-forwarded-for: ${nextClient()}\r\n\r\n`,
    )
    while (!signal.aborted && raw.ended() === null && !raw.socket.destroyed) {
      raw.socket.read(16_384)
      await pause(1_000)
    }
    raw.socket.destroy()
  })

/** Uploads that send most of a large bundle immediately and the rest at 64 B/s. */
const slowUploads: Flood = async (scene) =>
  inLoops(8, async (index, signal) => {
    const raw = await openRaw(scene.running.url)
    const project = hostileProject(scene, index)
    const lines = Object.entries({
      host: 'h',
      ...headersOf(scene.intruder),
      'x-forwarded-for': nextClient(),
      'content-type': `multipart/form-data; boundary=${boundary}`,
      'content-length': String(bundleBytes),
    }).map(([name, value]) => `${name}: ${value}\r\n`)
    const path = piletPath({ projectId: project.id, name: `slow-${randomUUID()}`, version: '1.0.0' })
    raw.send(`POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n`)
    raw.socket.write(formPart({}, Buffer.alloc(bundleBytes - 65_536, 'x')).subarray(0, -2))
    while (!signal.aborted && raw.ended() === null && raw.received().length === 0) {
      raw.socket.write(Buffer.alloc(64, 'x'))
      await pause(1_000)
    }
    raw.socket.destroy()
  })

/** Triggers that are always due, with backends that respond after 25 s. */
const slowBackends: Flood = async (scene) => {
  const ids: string[] = []
  for (const project of scene.hostile)
    for (let index = 0; index < Math.ceil(480 / scene.hostile.length); index++)
      ids.push(await seedTrigger(scene.service.sql, project))
  return inLoops(1, async (_index, signal) => {
    await scene.service.sql.query('update triggers set next_fire_at = now() where id = any($1::uuid[])', [
      ids,
    ])
    for (let waited = 0; waited < 20 && !signal.aborted; waited++) await pause(100)
  })
}

/** Wrong passwords for unknown usernames, each from a new address. */
const wrongPasswords: Flood = async (scene) =>
  inLoops(40, async (index, signal) => {
    const login = Buffer.from(`${randomUUID()}:${randomUUID()}`).toString('base64')
    await post(
      `${scene.running.url}/api/validate-proxy-auth`,
      { 'x-proxy-auth': proxySecret, 'x-forwarded-for': nextClient() },
      JSON.stringify({
        authorization_header: `Basic ${login}`,
        application_id: hostileProject(scene, index).applicationId,
      }),
      signal,
    )
  })

/** Notifications of the maximum size to all users. */
const largeEmits: Flood = async (scene) =>
  inLoops(64, async (index, signal) => {
    const { token, applicationId, tenantId } = hostileProject(scene, index)
    const body = { application_id: applicationId, tenant_id: tenantId, body: 'x'.repeat(3_000) }
    await post(
      `${scene.running.url}/api/machine/comms/emit`,
      { authorization: `Bearer ${token}` },
      JSON.stringify(body),
      signal,
    )
  })

/** Changes that wait for the audit chain of their project while appending to the chain is slow. */
const slowChanges: Flood = async (scene) => {
  const { sql } = scene.service
  const ids = scene.hostile.map(({ id }) => `'${id}'`).join(', ')
  await sql.query(`
    create function append_slowly() returns trigger language plpgsql as $$
    begin
      if new.chain_id in (${ids}) then perform pg_sleep(0.1); end if;
      return new;
    end $$;
    create trigger append_slowly before insert on audit_logs for each row execute function append_slowly()`)
  const stop = inLoops(40, async (index, signal) => {
    await change(scene, hostileProject(scene, index), signal)
  })
  return async () => {
    await stop()
    await sql.query('drop trigger append_slowly on audit_logs; drop function append_slowly')
  }
}
const change = (scene: SharedScene, project: SharedProject, signal?: AbortSignal) =>
  post(
    `${scene.running.url}/query`,
    headersOf(scene.intruder),
    JSON.stringify({
      query: 'mutation($id: ID!, $name: String!) { updateProject(id: $id, input: { name: $name }) { id } }',
      variables: { id: project.id, name: `name ${randomBytes(4).toString('hex')}` },
    }),
    signal,
  )

/** Gateway calls to a partner that never responds. */
const hangingCalls: Flood = async (scene) =>
  inLoops(80, async (index, signal) => {
    const { token, applicationId } = hostileProject(scene, index)
    await post(
      `${scene.running.url}/esb/${applicationId}/hang`,
      { authorization: `Bearer ${token}` },
      '{}',
      signal,
    )
  })

/** Request bodies that are slow to transform. */
const largeRenderings: Flood = async (scene) =>
  inLoops(24, async (index, signal) => {
    const { token, applicationId } = hostileProject(scene, index)
    await post(
      `${scene.running.url}/esb/${applicationId}/transform`,
      { authorization: `Bearer ${token}` },
      JSON.stringify(Array(20_000).fill(1)),
      signal,
    )
  })

export const floods = {
  slowReaders,
  slowUploads,
  slowBackends,
  wrongPasswords,
  largeEmits,
  slowChanges,
  hangingCalls,
  largeRenderings,
} satisfies Record<string, Flood>
