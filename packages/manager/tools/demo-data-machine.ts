// Creates the demo's machine users, the endpoints that they may call, and the triggers. Saves the machine tokens in
// files. A later start keeps these objects, but updates the partner's address and token, which change with each start.
import { readFileSync, writeFileSync } from 'node:fs'
import { type Connection, connect, graphql, sendForJson } from '@manager/client'
import * as documents from '@manager/client/documents'
import type { DemoShop } from './demo-data.ts'
import {
  type EndpointPlan,
  type MachineUserKey,
  type MachineUserPlan,
  endpoints,
  machineUsers,
  triggers,
} from './demo-world.ts'

export type Partner = { url: string; token: string }
/** Returns the file that contains the token of a machine user. */
export type TokenFileOf = (key: MachineUserKey) => string
export type MachineIds = {
  environments: Readonly<Record<string, string>>
  machineUsers: Readonly<Record<MachineUserKey, string>>
  /** Maps `application consumeURL` to the id of the endpoint and the address that it calls. */
  endpoints: ReadonlyMap<string, { id: string; url: string }>
  /** Maps run keys to ids. */
  triggers: ReadonlyMap<string, string>
}

const toEndpointKey = ({ application, input }: EndpointPlan): string => `${application} ${input.consumeURL}`

const findEnvironments = async (
  connection: Connection,
  projectId: string,
): Promise<Record<string, string>> => {
  const { environments } = await graphql(connection, documents.listEnvironmentsDocument, { projectId })
  return Object.fromEntries(environments.map(({ name, id }) => [name, id]))
}

/** Creates all machine users, endpoints and triggers. */
export async function createMachines(
  { maintainer, developer }: { maintainer: Connection; developer: Connection },
  shop: DemoShop,
  { partner, tokenFileOf }: { partner: Partner; tokenFileOf: TokenFileOf },
): Promise<MachineIds> {
  const environments = await findEnvironments(maintainer, shop.project.id)
  const ids: [string, string][] = []
  for (const plan of machineUsers) {
    const id = await createMachineUser(
      maintainer,
      environments[plan.environment] ?? '',
      plan,
      tokenFileOf(plan.key),
    )
    ids.push([plan.key, id])
  }
  const machineIds = Object.fromEntries(ids) as MachineIds['machineUsers']
  const endpointIds = new Map<string, { id: string; url: string }>()
  for (const plan of endpoints) {
    const input = { ...plan.input, ...createPartnerInput(plan, partner) }
    const { createEndpoint } = await graphql(maintainer, documents.createEndpointDocument, {
      applicationId: shop.applications[plan.application].id,
      input,
    })
    endpointIds.set(toEndpointKey(plan), { id: createEndpoint.id, url: input.url ?? '' })
    for (const key of plan.callers)
      await graphql(maintainer, documents.createMachineUser2EndpointDocument, {
        input: { machineUserID: machineIds[key], endpointID: createEndpoint.id, enabled: true },
      })
  }
  return {
    environments,
    machineUsers: machineIds,
    endpoints: endpointIds,
    triggers: await createTriggers(developer, shop),
  }
}

async function createTriggers(developer: Connection, shop: DemoShop): Promise<Map<string, string>> {
  const ids = new Map<string, string>()
  for (const { application, input } of triggers) {
    const { createTrigger } = await graphql(developer, documents.createTriggerDocument, {
      applicationId: shop.applications[application].id,
      input,
    })
    ids.set(input.runKey, createTrigger.id)
  }
  return ids
}

const createPartnerInput = ({ partnerPath }: EndpointPlan, { url, token }: Partner) =>
  partnerPath === undefined
    ? {}
    : ({ url: `${url}${partnerPath}`, authType: 'Bearer', authToken: token } as const)

const saveToken = (file: string, token: string | null): void =>
  writeFileSync(file, `${token}\n`, { mode: 0o600 })

async function createMachineUser(
  connection: Connection,
  environmentId: string,
  { name, enabled = true }: MachineUserPlan,
  tokenFile: string,
): Promise<string> {
  const input = { name, enabled, hashedKey: '__GENERATE_TOKEN__' }
  const { createMachineUserWithCredentials: created } = await graphql(
    connection,
    documents.createMachineUserDocument,
    { environmentId, input },
  )
  saveToken(tokenFile, created.generatedToken)
  return created.machineUser.id
}

/** Sets the current partner's address and token on its endpoints, and replaces lost tokens of these machine users. */
export async function refreshMachines(
  admin: Connection,
  shop: DemoShop,
  {
    partner,
    tokenFileOf,
    keys,
  }: { partner: Partner; tokenFileOf: TokenFileOf; keys: readonly MachineUserKey[] },
): Promise<void> {
  for (const plan of endpoints.filter(({ partnerPath }) => partnerPath !== undefined)) {
    const application = shop.applications[plan.application].id
    const { endpoints: rows } = await graphql(admin, documents.listEndpointsDocument, { application })
    const row = rows.find(({ consumeURL }) => consumeURL === plan.input.consumeURL)
    if (row !== undefined)
      await graphql(admin, documents.updateEndpointDocument, {
        id: row.id,
        input: createPartnerInput(plan, partner),
      })
  }
  const environments = await findEnvironments(admin, shop.project.id)
  for (const plan of machineUsers.filter(({ key }) => keys.includes(key)))
    await ensureToken(admin, environments[plan.environment] ?? '', plan, tokenFileOf(plan.key))
}

/** A token is shown only once, so if its file is lost or wrong, a new token is issued. */
async function ensureToken(
  admin: Connection,
  environment: string,
  plan: MachineUserPlan,
  tokenFile: string,
): Promise<void> {
  const { machineUsers: rows } = await graphql(admin, documents.listMachineUsersDocument, { environment })
  const row = rows.find(({ name }) => name === plan.name)
  if (row === undefined) return void (await createMachineUser(admin, environment, plan, tokenFile))
  if (await isTokenOwnedBy(admin, row.id, tokenFile)) return
  const rotation = await graphql(admin, documents.rotateMachineUserTokenDocument, { id: row.id })
  saveToken(tokenFile, rotation.rotateMachineUserToken.generatedToken)
}

/** Returns whether the token in the file belongs to the machine user. */
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
  const request = { method: 'GET', path: '/api/machine/check' }
  const identity = await sendForJson<{ machine_user_id?: string }>(connect({ url, token }), request)
  return identity.machine_user_id === machineUserId
}
