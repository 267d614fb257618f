// Starts a service process with one quiet project and several hostile projects, and defines the operations of
// the quiet project.
import { pbkdf2Sync, randomBytes, randomUUID } from 'node:crypto'
import { type Person, headersOf, proxySecret } from '@manager/harness/callers.ts'
import { type TestApp, startTestApp } from './app.ts'
import { generousLimits } from './comms.ts'
import { accessCalls, endpointCalls } from './endpoints.ts'
import { nextClient, post } from './flood-client.ts'
import { addPackages, setLayer } from './pilet-rows.ts'
import { uploadPilet } from '@manager/harness/pilets.ts'
import { type ServiceProcess, startProcess } from '@manager/harness/process.ts'
import { type SeededProject, seedMachineUser, seedProject, seedUser } from '@manager/harness/seed.ts'
import { seedTrigger } from './triggers.ts'
import { type Upstream, startUpstream } from './upstream.ts'

export type SharedProject = SeededProject & { token: string }
export type SharedScene = {
  service: TestApp
  running: ServiceProcess
  admin: Person
  /** The user who acts for the hostile projects. */
  intruder: Person
  quiet: SharedProject
  hostile: SharedProject[]
  backend: Upstream
  close(): Promise<void>
}

const mebibyte = 1_048_576
/** Larger than the socket buffers of a connection that is not read. */
export const bundleBytes = 8 * mebibyte
const quietBundle = 'small'
// These sizes are smaller than the defaults, but allow the same number of concurrent transfers of maximum size.
const env = {
  ...generousLimits,
  SVC_PILETS_MAX_UPLOAD_BYTES: String(bundleBytes),
  SVC_PILETS_SEND_MEMORY_BYTES: String(8 * bundleBytes),
  SVC_PILETS_UPLOAD_MEMORY_BYTES: String(4 * bundleBytes),
  SVC_PILETS_CACHE_BYTES: '0',
  SVC_CALLBACKS_ALLOWED_CIDRS: '127.0.0.0/8',
  SVC_ESB_ALLOWED_CIDRS: '127.0.0.0/8',
  SVC_ESB_MAX_CONNECTIONS: '64',
  // In this test, each project has one deployment, which may use all deliveries of the process.
  SVC_TRIGGERS_MAX_DELIVERIES_PER_DEPLOYMENT: '512',
}
const slowMs = 25_000

export const bundlePath = ({ applicationId, id }: SharedProject, name: string): string =>
  `/pilet-bundle/${applicationId}/${id}/${name}/1.0.0`

/** Creates a project with bundles, endpoints and a machine user. */
async function createProjectData(
  service: TestApp,
  admin: Person,
  slug: string,
  backend: Upstream,
): Promise<SharedProject> {
  const project = await seedProject(service.sql, slug)
  const { id: machineUserID, token } = await seedMachineUser(service.sql, project)
  const isQuiet = slug === 'quiet'
  const bundles = isQuiet ? [quietBundle] : ['large-0', 'large-1']
  for (const name of bundles) {
    const bytes = Buffer.alloc(isQuiet ? mebibyte / 2 : bundleBytes, `${slug} ${name} `)
    await addPackages(service.sql, project.id, [{ name, version: '1.0.0', bytes }])
  }
  await setLayer(service.sql, project, 'project', { modules: bundles })
  const [endpoints, access] = [endpointCalls(() => service), accessCalls(() => service)]
  const transformationTemplate = '{{range .Data}}{{.}}{{end}}'
  for (const [name, more] of Object.entries({
    hang: {},
    call: {},
    transform: { transformationTemplate, inputMessageType: 'JSON' },
  })) {
    const url = `${backend.url}/${name}`
    const input = { name, consumeURL: `/${name}`, url, logLevel: 'NONE', ...more }
    const { data, error } = await endpoints.create(admin, project.applicationId, input)
    if (error !== null) throw new Error(error)
    await access.allow(admin, { machineUserID, endpointID: data.row.id as string })
  }
  return { ...project, token }
}

/** Starts the service with `hostileCount` hostile projects. */
export async function startSharedScene(hostileCount: number): Promise<SharedScene> {
  const service = await startTestApp({ env })
  const admin = await seedUser(service.sql, 'admin', 'administrator')
  const intruder = await seedUser(service.sql, 'intruder', 'administrator')
  const backend = await startUpstream()
  backend.handle((request, response) => {
    const isSlow = request.url?.startsWith('/hang') === true || request.url?.startsWith('/slow') === true
    request.resume()
    const timer = setTimeout(() => response.writeHead(200).end('{}'), isSlow ? slowMs : 0)
    response.once('close', () => clearTimeout(timer))
    const run = /^\/quiet\/(.*)$/.exec(request.url ?? '')?.[1]
    if (run !== undefined) arrivals.get(run)?.()
  })
  const quiet = await createProjectData(service, admin, 'quiet', backend)
  const hostile: SharedProject[] = []
  for (let index = 0; index < hostileCount; index++)
    hostile.push(await createProjectData(service, admin, `hostile-${index}`, backend))
  const running = await startProcess(service.database.url, env)
  for (const project of hostile) await register(running, project, `${backend.url}/slow`)
  return {
    service,
    running,
    admin,
    intruder,
    quiet,
    hostile,
    backend,
    close: async () => {
      running.child.kill('SIGKILL')
      await running.exit
      await service.close()
      await backend.close()
    },
  }
}
async function register({ url }: ServiceProcess, project: SharedProject, callbackUrl: string): Promise<void> {
  const body = { application_id: project.applicationId, callback_url: callbackUrl }
  const answer = await post(
    `${url}/api/machine/register-backend`,
    { authorization: `Bearer ${project.token}` },
    JSON.stringify(body),
  )
  if (answer.status >= 300) throw new Error(`registering failed: ${answer.text}`)
}

/** Handlers for expected callbacks, by the name in the callback URL. */
const arrivals = new Map<string, () => void>()

/** One operation of the quiet project. Returns its duration in milliseconds and throws if it fails. */
type Operation = (scene: SharedScene) => Promise<number>
const timed = async (work: () => Promise<{ status: number }>, wanted: number): Promise<number> => {
  const startedAt = performance.now()
  const answer = await work()
  if (answer.status !== wanted)
    throw new Error(`unexpected response for the quiet project: ${JSON.stringify(answer)}`)
  return performance.now() - startedAt
}

const bundle: Operation = ({ running, quiet }) =>
  timed(async () => {
    const headers = { 'x-proxy-auth': proxySecret }
    const response = await fetch(running.url + bundlePath(quiet, quietBundle), { headers })
    await response.arrayBuffer()
    return response
  }, 200)

const upload: Operation = ({ running, quiet, admin }) =>
  timed(async () => {
    const pilet = {
      projectId: quiet.id,
      name: `own-${randomUUID()}`,
      version: '1.0.0',
      bytes: randomBytes(200_000),
    }
    return { status: (await uploadPilet(running, admin, pilet)).status }
  }, 200)

/** Measures the time from when a trigger is due until its backend is called. */
const firstAttempt: Operation = async ({ service, running, quiet, backend }) => {
  const name = randomUUID()
  const arrived = new Promise<void>((resolve) => arrivals.set(name, resolve))
  await register(running, quiet, `${backend.url}/quiet/${name}`)
  const id = await seedTrigger(service.sql, quiet)
  const startedAt = performance.now()
  await service.sql.query('update triggers set next_fire_at = now() where id = $1', [id])
  await arrived
  const tookMs = performance.now() - startedAt
  await service.sql.query('delete from triggers where id = $1', [id])
  return tookMs
}

/** Signs in with a new user and password from a new address, so that no cached result applies. */
const basicLogin: Operation = async ({ service, running, quiet }) => {
  const [username, password, salt] = [randomUUID(), randomUUID(), randomBytes(16)]
  const hash = pbkdf2Sync(password, salt, 600_000, 32, 'sha256').toString('base64url')
  await service.sql.query(
    `insert into machine_users (id, project_id, environment_id, name, username, enabled, password_hash)
     values (gen_random_uuid(), $1, $2, 'quiet', $3, true, $4)`,
    [
      quiet.id,
      quiet.environmentId,
      username,
      `$pbkdf2-sha256$i=600000$${salt.toString('base64url')}$${hash}`,
    ],
  )
  const header = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
  return timed(
    () =>
      post(
        `${running.url}/api/validate-proxy-auth`,
        { 'x-proxy-auth': proxySecret, 'x-forwarded-for': nextClient() },
        JSON.stringify({ authorization_header: header, application_id: quiet.applicationId }),
      ),
    200,
  )
}

const emit: Operation = ({ running, quiet }) => {
  const body = { application_id: quiet.applicationId, tenant_id: quiet.tenantId, recipients: [randomUUID()] }
  const headers = { authorization: `Bearer ${quiet.token}` }
  return timed(() => post(`${running.url}/api/machine/comms/emit`, headers, JSON.stringify(body)), 202)
}

const query: Operation = ({ running, quiet, admin }) =>
  timed(
    () =>
      post(
        `${running.url}/query`,
        headersOf(admin),
        JSON.stringify({
          query: 'query($slug: String!) { project(slug: $slug) { id name tenants { id name } } }',
          variables: { slug: quiet.slug },
        }),
      ),
    200,
  )

const call =
  (path: string, body: string): Operation =>
  ({ running, quiet }) =>
    timed(
      () =>
        post(
          `${running.url}/esb/${quiet.applicationId}/${path}`,
          { authorization: `Bearer ${quiet.token}` },
          body,
        ),
      200,
    )

export const operations = {
  bundle,
  upload,
  firstAttempt,
  basicLogin,
  emit,
  query,
  call: call('call', '{}'),
  transform: call('transform', JSON.stringify(Array(20_000).fill(2))),
} satisfies Record<string, Operation>
