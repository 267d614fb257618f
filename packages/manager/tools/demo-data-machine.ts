// The demo backend needs three objects. It needs a machine user with its token in a file, an ESB endpoint
// that the machine user may call, and a trigger that calls the backend every minute.
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
  const saveToken = (token: string | null): void => writeFileSync(tokenFile, `${token}\n`, { mode: 0o600 })
  const existingUser = machineUsers.find(({ name }) => name === 'backend of Store')
  if (existingUser === undefined) {
    const input = { name: 'backend of Store', hashedKey: '__GENERATE_TOKEN__' }
    const createdUser = await graphql(admin, documents.createMachineUserDocument, { environmentId, input })
    saveToken(createdUser.createMachineUserWithCredentials.generatedToken)
    return createdUser.createMachineUserWithCredentials.machineUser.id
  }
  if (!(await isTokenOwnedBy(admin, existingUser.id, tokenFile))) {
    const rotation = await graphql(admin, documents.rotateMachineUserTokenDocument, { id: existingUser.id })
    saveToken(rotation.rotateMachineUserToken.generatedToken)
  }
  return existingUser.id
}

/** Returns true if the token in the file belongs to the machine user. */
async function isTokenOwnedBy(
  { url }: Connection,
  machineUserId: string,
  tokenFile: string,
): Promise<boolean> {
  let token = ''
  try {
    token = readFileSync(tokenFile, 'utf8').trim()
  } catch {
    return false
  }
  const path = '/api/machine/check'
  const identity = await sendForJson<{ machine_user_id?: string }>(connect({ url, token }), {
    method: 'GET',
    path,
  })
  return identity.machine_user_id === machineUserId
}

async function ensureEndpoint(
  admin: Connection,
  applicationId: string,
  { url, token }: Partner,
): Promise<string> {
  const { endpoints } = await graphql(admin, documents.listEndpointsDocument, { application: applicationId })
  const existingEndpoint = endpoints.find(({ consumeURL }) => consumeURL === '/stock')
  const input = { url, authType: 'Bearer', authToken: token } as const
  if (existingEndpoint === undefined)
    return (
      await graphql(admin, documents.createEndpointDocument, {
        applicationId,
        input: { name: 'Partner stock', consumeURL: '/stock', ...input },
      })
    ).createEndpoint.id
  return (await graphql(admin, documents.updateEndpointDocument, { id: existingEndpoint.id, input }))
    .updateEndpoint.id
}
