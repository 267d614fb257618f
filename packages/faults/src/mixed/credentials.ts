// Uses credentials continuously while they are invalidated one at a time. Strangers call without valid
// credentials.
import { randomInt, randomUUID } from 'node:crypto'
import { personHeaders } from '../installation.ts'
import { createMachineToken } from '@manager/harness/seed.ts'
import type { Invalidation, Use } from '@manager/harness/revocation.ts'
import type { Recorder } from '../recorder.ts'
import { proxySecret } from '@manager/harness/callers.ts'
import { type Answer, type Client, graphqlStatus, hasData } from './client.ts'
import type { Credential, MixedWorld } from './world.ts'

type Caller = { client: Client; recorder: Recorder; world: MixedWorld }
/** A call by a stranger, and whether it succeeded anyway. */
export type StrangerCall = { what: string; status: number; hasSucceeded: boolean }
export type CredentialLoad = {
  uses: Use[]
  invalidations: [string, Invalidation][]
  strangers: StrangerCall[]
  use(): Promise<void>
  invalidate(): Promise<void>
  tryStranger(): Promise<void>
}

/** Returns a random client address, because repeated failures would block a single address. */
const anyClient = (): string => `10.${randomInt(256)}.${randomInt(256)}.${randomInt(1, 255)}`

const validate = (
  { client, world }: Pick<Caller, 'client' | 'world'>,
  authorization: string,
): Promise<Answer> =>
  client.send('/api/validate-proxy-auth', {
    headers: { 'x-proxy-auth': proxySecret, 'x-forwarded-for': anyClient() },
    body: { authorization_header: authorization, application_id: world.site.applicationId },
  })
const isValid = ({ status, text }: Answer): boolean => status === 200 && text.startsWith('{"valid":true')

/** Uses every personal token once, so that the replica caches the hash. */
export async function warmUp(client: Client, world: MixedWorld): Promise<void> {
  for (const { kind, authorization } of world.credentials)
    if (kind === 'personal') await validate({ client, world }, authorization)
}

const getInvalidatingMutations = {
  personal: 'mutation($id: ID!) { revokePersonalAccessToken(id: $id) { id } }',
  machine: 'mutation($id: ID!) { updateMachineUser(id: $id, input: { enabled: false }) { id } }',
}

/** Creates the calls of this load. The calls record their outcomes in the arrays. */
export function createCredentialLoad(caller: Caller): CredentialLoad {
  const { client, recorder, world } = caller
  const load: Pick<CredentialLoad, 'uses' | 'invalidations' | 'strangers'> = {
    uses: [],
    invalidations: [],
    strangers: [],
  }
  const { credentials } = world
  let [invalidated, turn, strange] = [0, 0, 0]
  // Alternates between random credentials and credentials that were just invalidated or will be next.
  const pick = (): Credential => {
    const near = invalidated - 3 + (turn++ % 6)
    const index = turn % 2 === 0 ? near : randomInt(credentials.length)
    return credentials[Math.min(Math.max(index, 0), credentials.length - 1)] as Credential
  }
  return {
    ...load,
    use: async () => {
      const { id, authorization } = pick()
      const startedAt = Date.now()
      let answer: Answer | null = null
      await recorder.record(
        'authenticate',
        id,
        async () => (answer = await validate(caller, authorization)).status,
      )
      if (answer !== null)
        load.uses.push({ credential: id, startedAt, answeredAt: Date.now(), accepted: isValid(answer) })
    },
    invalidate: async () => {
      const credential = credentials[invalidated++]
      if (credential === undefined) return
      const requestedAt = Date.now()
      const status = await recorder.record('invalidate', credential.id, async () =>
        graphqlStatus(
          await client.send('/query', {
            headers: personHeaders(world.site.adminId),
            body: { query: getInvalidatingMutations[credential.kind], variables: { id: credential.id } },
          }),
        ),
      )
      // Without a response, the state of the credential is unknown, so nothing can be checked.
      if (status === 200) load.invalidations.push([credential.id, { requestedAt, confirmedAt: Date.now() }])
    },
    tryStranger: async () => {
      const kind = strangers[strange++ % strangers.length] as Stranger
      await recorder.record('stranger', kind.what, async () => {
        const answer = await kind.call(caller)
        const { status } = answer
        load.strangers.push({ what: kind.what, status, hasSucceeded: kind.hasSucceeded(answer) })
        return status
      })
    },
  }
}

type Stranger = {
  what: string
  call: (caller: Caller) => Promise<Answer>
  hasSucceeded: (answer: Answer) => boolean
}

const unknownToken = (): string => createMachineToken().token
const isSuccess = ({ status }: Answer): boolean => status >= 200 && status < 300

const strangers: readonly Stranger[] = [
  {
    what: 'a token that was never issued',
    call: (caller) => validate(caller, `Bearer ${unknownToken()}`),
    hasSucceeded: isValid,
  },
  {
    what: 'a mutation by a non-member',
    call: ({ client, world }) =>
      client.send('/query', {
        headers: personHeaders(randomUUID()),
        body: {
          query: `mutation { updateTenant(id: "${world.site.tenantId}", input: { name: "taken" }) { id } }`,
        },
      }),
    hasSucceeded: hasData,
  },
  {
    what: 'a request without the proxy secret',
    call: ({ client, world }) =>
      client.send('/query', {
        headers: { 'x-token-subject': world.site.adminId },
        body: { query: '{ projects { id } }' },
      }),
    hasSucceeded: hasData,
  },
  {
    what: "an emit to a different project's application",
    call: ({ client, world }) =>
      client.send('/api/machine/comms/emit', {
        headers: { authorization: `Bearer ${world.site.machineToken}` },
        body: {
          application_id: world.comms.applicationIds[0],
          tenant_id: world.comms.tenantId,
          recipients: world.comms.userIds.slice(0, 1),
          title: 'from a stranger',
        },
      }),
    hasSucceeded: isSuccess,
  },
  {
    what: 'a call by a machine user without access',
    call: ({ client, world }) =>
      client.send(`/esb/${world.site.applicationId}/orders`, {
        headers: { authorization: `Bearer ${world.comms.token}`, 'x-request-id': `stranger-${randomUUID()}` },
        body: { order: 'stranger' },
      }),
    hasSucceeded: isSuccess,
  },
  {
    what: 'a call with a token that was never issued',
    call: ({ client, world }) =>
      client.send(`/esb/${world.site.applicationId}/orders`, {
        headers: { authorization: `Bearer ${unknownToken()}`, 'x-forwarded-for': anyClient() },
        body: { order: 'stranger' },
      }),
    hasSucceeded: isSuccess,
  },
]
