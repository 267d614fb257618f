// A small installation for drills. The operator's commands and the API create it, so that its audit trail and its
// sealed secrets are real.
import { randomBytes, randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { proxySecret } from '@manager/harness/callers.ts'
import { type CommandResult, runManagerProcess } from '@manager/harness/process.ts'

/** Keys that an operator stores separately from the database and its backups. */
export type Keys = { masterKey: string; encryptionKeys: string }
export type Installation = {
  adminId: string
  memberId: string
  projectId: string
  applicationId: string
  tenantId: string
  endpointId: string
  /** Token of the machine user that emits and calls the endpoint. */
  machineToken: string
  personalToken: string
}
/** A target of ESB calls that requires the endpoint's secret. */
export type Partner = {
  url: string
  secret: string
  accepted(): number
  /** The order id in the body of each accepted call. */
  orders(): string[]
  end(): Promise<void>
}
/** Every response of the partner has this header. */
export const partnerHeader = 'x-partner'
/** Returns the base URL for the next request. */
export type NextUrl = () => string

/** Generates keys for one drill. */
export const createKeys = (): Keys => ({
  masterKey: randomBytes(32).toString('base64'),
  encryptionKeys: `drill:${randomBytes(32).toString('base64')}`,
})

export const keysEnv = ({ masterKey, encryptionKeys }: Keys): Record<string, string> => ({
  SVC_MASTER_KEY: masterKey,
  SVC_ENCRYPTION_KEYS: encryptionKeys,
})

/** Runs an operator command. Throws an error with the output if the exit code is not 0. */
export async function manager(
  args: string[],
  env: Record<string, string>,
  program?: string,
): Promise<CommandResult> {
  const result = await runManagerProcess(args, env, program)
  if (result.code !== 0)
    throw new Error(`manager ${args.join(' ')} exited with ${result.code}: ${result.stdout}${result.stderr}`)
  return result
}

/** Returns the headers that the proxy sends for a user. */
export const personHeaders = (id: string): Record<string, string> => ({
  'x-proxy-auth': proxySecret,
  'x-token-subject': id,
  'content-type': 'application/json',
})

/** Executes one GraphQL operation. Throws if the response contains errors. */
export async function ask<T>(
  url: string,
  personId: string,
  query: string,
  variables: Record<string, unknown> = {},
): Promise<T> {
  const response = await fetch(`${url}/query`, {
    method: 'POST',
    headers: personHeaders(personId),
    body: JSON.stringify({ query, variables }),
    signal: AbortSignal.timeout(30_000),
  })
  const body = (await response.json()) as { data?: T; errors?: { message: string }[]; error?: string }
  const error = body.errors?.[0]?.message ?? body.error
  if (error !== undefined) throw new Error(`${response.status} ${error}`)
  return body.data as T
}

export async function startPartner(): Promise<Partner> {
  const secret = randomBytes(24).toString('base64url')
  const orders: string[] = []
  const server = createServer((request, response) => {
    let text = ''
    request.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
    request.on('end', () => {
      const isRight = request.headers.authorization === `Bearer ${secret}`
      if (isRight) orders.push(String((JSON.parse(text) as { order: unknown }).order))
      response
        .writeHead(isRight ? 200 : 401, { 'content-type': 'application/json', [partnerHeader]: 'yes' })
        .end('{"taken":true}')
    })
  })
  server.keepAliveTimeout = 60_000
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    secret,
    accepted: () => orders.length,
    orders: () => orders,
    end: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

type Made = { made: { id: string } }

/** Creates the installation through the API. `adminId` must be an administrator. */
export async function createInstallation(
  url: string,
  partner: Pick<Partner, 'url' | 'secret'>,
  adminId: string,
): Promise<Installation> {
  const make = async (query: string, variables: Record<string, unknown>): Promise<string> =>
    (await ask<Made>(url, adminId, query, variables)).made.id
  const memberId = randomUUID()
  await ask(url, memberId, '{ me { id } }')
  const { project } = await ask<{ project: { id: string; environments: { id: string }[] } }>(
    url,
    adminId,
    'mutation { project: createProject(input: { name: "Drill", slug: "drill" }) { id environments { id } } }',
  )
  const projectId = project.id
  const applicationId = await make(
    'mutation($p: ID!) { made: createApplication(projectId: $p, input: { name: "Store", slug: "store" }) { id } }',
    { p: projectId },
  )
  const tenantId = await make(
    'mutation($p: ID!) { made: createTenant(projectId: $p, input: { name: "Acme", slug: "acme" }) { id } }',
    { p: projectId },
  )
  await make(
    'mutation($t: ID!, $a: ID!) { made: createTenant2Application(input: { tenantId: $t, applicationId: $a }) { id } }',
    { t: tenantId, a: applicationId },
  )
  await make(
    'mutation($t: ID!, $u: ID!) { made: addUserToTenant(tenantID: $t, userID: $u, roleName: "member") { id } }',
    { t: tenantId, u: memberId },
  )
  const machine = await createMachine(url, adminId, project.environments[0]?.id ?? '')
  const endpointId = await make(
    `mutation($a: ID!, $url: String!, $token: String!) { made: createEndpoint(applicationId: $a, input: {
       name: "Orders", consumeURL: "/orders", url: $url, authType: Bearer, authToken: $token }) { id } }`,
    { a: applicationId, url: partner.url, token: partner.secret },
  )
  await make(
    'mutation($m: ID!, $e: ID!) { made: createMachineUser2Endpoint(input: { machineUserID: $m, endpointID: $e }) { id } }',
    { m: machine.id, e: endpointId },
  )
  const { pat } = await ask<{ pat: { token: string } }>(
    url,
    adminId,
    'mutation { pat: createPersonalAccessToken(name: "drill") { token } }',
  )
  const ids = { adminId, memberId, projectId, applicationId, tenantId, endpointId }
  return { ...ids, machineToken: machine.token, personalToken: pat.token }
}

async function createMachine(url: string, adminId: string, environmentId: string) {
  const { made } = await ask<{ made: { generatedToken: string; machineUser: { id: string } } }>(
    url,
    adminId,
    `mutation($e: ID!) { made: createMachineUserWithCredentials(environmentId: $e,
       input: { name: "backend", hashedKey: "__GENERATE_TOKEN__" }) { generatedToken machineUser { id } } }`,
    { e: environmentId },
  )
  return { id: made.machineUser.id, token: made.generatedToken }
}
