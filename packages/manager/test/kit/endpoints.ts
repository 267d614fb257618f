// Operations on endpoints and endpoint access, and functions that read their stored rows.
import { randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import type { Person } from '@manager/harness/callers.ts'
import type { TestApp } from './app.ts'
import type { GraphqlAnswer } from '@manager/harness/graphql.ts'
import { type Input, rowCalls } from './row-calls.ts'

type Owner = { id: string; applicationId: string }
type AuditRow = { action: string; changes: Record<string, unknown>; user_id: string; everything: string }
type Kept = { auth_password: Buffer | null; auth_token: Buffer | null; everything: string }

/** Seeds an endpoint without secrets with SQL and returns its id. */
export async function seedEndpoint(sql: Pool, { id: projectId, applicationId }: Owner): Promise<string> {
  const id = randomUUID()
  await sql.query(
    `insert into endpoints (id, project_id, application_id, name, description, enabled, consume_url, auth_type,
       auth_username, transformation_template, log_level)
     values ($1, $2, $3, 'seeded', '', true, $4, 'None', '', '', 'BASIC')`,
    [id, projectId, applicationId, `/${id}`],
  )
  return id
}

/** Grants a machine user access to the endpoint with SQL and returns the id of the row. */
export async function seedEndpointAccess(
  sql: Pool,
  of: { projectId: string; endpointId: string; machineUserId: string },
): Promise<string> {
  const id = randomUUID()
  await sql.query(
    `insert into machine_user2endpoints (id, project_id, endpoint_id, machine_user_id, enabled)
     values ($1, $2, $3, $4, true)`,
    [id, of.projectId, of.endpointId, of.machineUserId],
  )
  return id
}

export const endpointFields = `id name description enabled consumeURL url authType authUsername authPassword authToken
  inputMessageType outputMessageType transformationTemplate logLevel`
const accessFields = 'id enabled machineUser { id name } endpoint { id consumeURL }'

/**
 * Returns operations on endpoints. The result of each is aliased to `row` or `rows`. `service` is read on each call.
 */
export function endpointCalls(service: () => TestApp) {
  const { query, ...changes } = rowCalls(service, 'Endpoint', endpointFields)
  return {
    ...changes,
    list: (caller: Person, application: string, selected = endpointFields) =>
      query(
        caller,
        `query($application: ID!) { rows: endpoints(application: $application) { ${selected} } }`,
        { application },
      ),
    get: (caller: Person, application: string, id: string) =>
      query(
        caller,
        `query($application: ID!, $id: ID!) { row: endpoint(application: $application, id: $id) { ${endpointFields} } }`,
        { application, id },
      ),
    /** Returns the stored row of an endpoint. */
    keptOf: async (id: string): Promise<Kept | undefined> => {
      const { rows } = await service().sql.query<Kept>(
        'select auth_password, auth_token, endpoints::text as everything from endpoints where id = $1',
        [id],
      )
      return rows[0]
    },
    auditOf: (id: string): Promise<AuditRow[]> => auditOf(service().sql, id),
  }
}

/** Returns operations on the access of machine users to endpoints. */
export function accessCalls(service: () => TestApp) {
  const query = (caller: Person, text: string, variables: Input): Promise<GraphqlAnswer> =>
    service().query(caller, text, variables)
  return {
    allow: (caller: Person, input: Input) =>
      query(
        caller,
        `mutation($input: CreateMachineUser2EndpointInput!) {
          row: createMachineUser2Endpoint(input: $input) { ${accessFields} } }`,
        { input },
      ),
    change: (caller: Person, id: string, input: Input) =>
      query(
        caller,
        `mutation($id: ID!, $input: UpdateMachineUser2EndpointInput!) {
          row: updateMachineUser2Endpoint(id: $id, input: $input) { ${accessFields} } }`,
        { id, input },
      ),
    withdraw: (caller: Person, id: string) =>
      query(caller, 'mutation($id: ID!) { done: deleteMachineUser2Endpoint(id: $id) }', { id }),
    accessOf: (caller: Person, endpoint: string, selected = accessFields) =>
      query(
        caller,
        `query($endpoint: ID!) { rows: machineUser2endpoints(endpoint: $endpoint) { ${selected} } }`,
        { endpoint },
      ),
    oneAccess: (caller: Person, endpoint: string, id: string) =>
      query(
        caller,
        `query($endpoint: ID!, $id: ID!) { row: machineUser2endpoint(endpoint: $endpoint, id: $id) { ${accessFields} } }`,
        { endpoint, id },
      ),
    auditOf: (id: string): Promise<AuditRow[]> => auditOf(service().sql, id),
  }
}

/** Returns the audit rows of an entity, oldest first. */
async function auditOf(sql: Pool, id: string): Promise<AuditRow[]> {
  const { rows } = await sql.query<AuditRow>(
    `select action, changes, user_id, audit_logs::text as everything from audit_logs
     where entity_id = $1 order by seq`,
    [id],
  )
  return rows
}
