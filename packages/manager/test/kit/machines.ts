// Operations on machine users, and functions that read their stored rows.
import { expect } from 'vitest'
import type { Person } from '@manager/harness/callers.ts'
import type { TestApp } from './app.ts'
import { basicValue, bearer, call, throughProxy, validate } from '@manager/harness/credentials.ts'
import type { GraphqlAnswer } from '@manager/harness/graphql.ts'

type Input = Record<string, unknown>
type Kept = { token_hash: Buffer | null; password_hash: string | null; everything: string }
type AuditRow = {
  action: string
  metadata: unknown
  changes: Record<string, unknown>
  user_id: string
  everything: string
}

export const machineFields = 'id name username enabled tokenPrefix lastRotatedAt'
export const generateToken = '__GENERATE_TOKEN__'

/**
 * Returns operations on machine users. The result of each is aliased to `made`, `row` or `rows`. `service` is read on
 * each call.
 */
export function machineCalls(service: () => TestApp) {
  const query = (caller: Person, text: string, variables: Input): Promise<GraphqlAnswer> =>
    service().query(caller, text, variables)
  return {
    create: (caller: Person, environmentId: string, input: Input) =>
      query(
        caller,
        `mutation($environmentId: ID!, $input: CreateMachineUserInput!) {
          made: createMachineUserWithCredentials(environmentId: $environmentId, input: $input) {
            generatedToken plaintextPassword machineUser { ${machineFields} } } }`,
        { environmentId, input },
      ),
    rotate: (caller: Person, id: string) =>
      query(
        caller,
        `mutation($id: ID!) {
          made: rotateMachineUserToken(id: $id) { generatedToken machineUser { ${machineFields} } } }`,
        { id },
      ),
    update: (caller: Person, id: string, input: Input) =>
      query(
        caller,
        `mutation($id: ID!, $input: UpdateMachineUserInput!) {
          row: updateMachineUser(id: $id, input: $input) { ${machineFields} } }`,
        { id, input },
      ),
    remove: (caller: Person, id: string) =>
      query(caller, 'mutation($id: ID!) { deleteMachineUser(id: $id) }', { id }),
    list: (caller: Person, environment: string, selected = machineFields) =>
      query(
        caller,
        `query($environment: ID!) { rows: machineUsers(environment: $environment) { ${selected} } }`,
        { environment },
      ),
    /** Returns the stored row of a machine user. */
    keptOf: async (id: string): Promise<Kept | undefined> => {
      const { rows } = await service().sql.query<Kept>(
        'select token_hash, password_hash, machine_users::text as everything from machine_users where id = $1',
        [id],
      )
      return rows[0]
    },
    /** Returns the audit rows of a machine user, oldest first. */
    auditOf: async (id: string): Promise<AuditRow[]> => {
      const { rows } = await service().sql.query<AuditRow>(
        `select action, metadata, changes, user_id, audit_logs::text as everything from audit_logs
         where entity_id = $1 order by seq`,
        [id],
      )
      return rows
    },
  }
}

let clients = 0
/**
 * Returns a client address that no other call in this process uses, so that failed logins in one test do not block
 * other tests.
 */
export const freshClient = (): string => `10.7.${Math.floor(++clients / 250)}.${clients % 250}`

/** Returns, for each replica, whether it accepts the token on the machine routes. */
export function tokenWorks(replicas: readonly TestApp[], token: string): Promise<boolean[]> {
  return Promise.all(
    replicas.map(async ({ url }) => {
      const headers = { ...throughProxy(freshClient()), ...bearer(token) }
      const { status } = await call(url, '/api/machine/nothing', headers)
      // Only an authenticated machine user gets a 404 here.
      expect([401, 404]).toContain(status)
      return status === 404
    }),
  )
}

/** Returns, for each replica, whether it accepts the password. */
export async function passwordWorks(
  replicas: readonly TestApp[],
  applicationId: string,
  login: { username: string; password: string },
): Promise<boolean[]> {
  const works: boolean[] = []
  for (const { url } of replicas) {
    const header = basicValue(login.username, login.password)
    const { status, body } = await validate(url, header, applicationId, freshClient())
    expect([status, body.valid]).toEqual(status === 200 ? [200, true] : [401, false])
    works.push(status === 200)
  }
  return works
}
