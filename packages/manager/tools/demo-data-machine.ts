// The demo backend needs a machine user with its token in a file, an ESB endpoint that it may call, and a trigger that
// calls it every minute.
import { readFileSync, writeFileSync } from 'node:fs'
import { type Connection, connect, graphql, sendForJson } from '@manager/client'
import * as documents from '@manager/client/documents'
import type { DemoShop } from './demo-data.ts'

type Partner = { url: string; token: string }

/** Creates missing data, and sets the address and the token of the current partner in the endpoint. */
export async function ensureMachine(
  admin: Connection,
  { project, application }: DemoShop,
  partner: Partner,
  tokenFile: string,
): Promise<void> {
  const machineUserID = await ensureMachineUser(admin, project.id, tokenFile)
  const endpointID = await ensureEndpoint(admin, application.id, partner)
  const { machineUser2endpoints: rows } = await graphql(admin, documents.listMachineUser2EndpointsDocument, {
    endpoint: endpointID,
  })
  if (!rows.some(({ machineUser }) => machineUser.id === machineUserID))
    await graphql(admin, documents.createMachineUser2EndpointDocument, {
      input: { machineUserID, endpointID, enabled: true },
    })
  const { triggers } = await graphql(admin, documents.listTriggersDocument, { application: application.id })
  if (triggers.length === 0)
    await graphql(admin, documents.createTriggerDocument, {
      applicationId: application.id,
      input: { name: 'Count the stock', cronExpression: '* * * * *', runKey: 'count-stock' },
    })
}

/**
 * Returns the id of the machine user. A token is shown only once, so if the token file is lost or wrong, a new token is
 * issued.
 */
async function ensureMachineUser(admin: Connection, projectId: string, tokenFile: string): Promise<string> {
  const { environments } = await graphql(admin, documents.listEnvironmentsDocument, { projectId })
  const environmentId = environments.find(({ name }) => name === 'dev')?.id ?? ''
  const { machineUsers } = await graphql(admin, documents.listMachineUsersDocument, {
    environment: environmentId,
  })
  const keep = (token: string | null): void => writeFileSync(tokenFile, `${token}\n`, { mode: 0o600 })
  const found = machineUsers.find(({ name }) => name === 'backend of Store')
  if (found === undefined) {
    const input = { name: 'backend of Store', hashedKey: '__GENERATE_TOKEN__' }
    const made = await graphql(admin, documents.createMachineUserDocument, { environmentId, input })
    keep(made.createMachineUserWithCredentials.generatedToken)
    return made.createMachineUserWithCredentials.machineUser.id
  }
  if (!(await belongsTo(admin, found.id, tokenFile))) {
    const rotated = await graphql(admin, documents.rotateMachineUserTokenDocument, { id: found.id })
    keep(rotated.rotateMachineUserToken.generatedToken)
  }
  return found.id
}

/** Returns true if the token in the file belongs to the machine user. */
async function belongsTo({ url }: Connection, machineUserId: string, tokenFile: string): Promise<boolean> {
  let token = ''
  try {
    token = readFileSync(tokenFile, 'utf8').trim()
  } catch {
    return false
  }
  const path = '/api/machine/check'
  const checked = await sendForJson<{ machine_user_id?: string }>(connect({ url, token }), {
    method: 'GET',
    path,
  })
  return checked.machine_user_id === machineUserId
}

async function ensureEndpoint(
  admin: Connection,
  applicationId: string,
  { url, token }: Partner,
): Promise<string> {
  const { endpoints } = await graphql(admin, documents.listEndpointsDocument, { application: applicationId })
  const found = endpoints.find(({ consumeURL }) => consumeURL === '/stock')
  const input = { url, authType: 'Bearer', authToken: token } as const
  if (found === undefined)
    return (
      await graphql(admin, documents.createEndpointDocument, {
        applicationId,
        input: { name: 'Stock of the partner', consumeURL: '/stock', ...input },
      })
    ).createEndpoint.id
  return (await graphql(admin, documents.updateEndpointDocument, { id: found.id, input })).updateEndpoint.id
}
