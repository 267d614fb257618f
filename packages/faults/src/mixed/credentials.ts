// Credentials are used all the time, and ended one after the other; and some callers have none that counts.
import { randomInt, randomUUID } from 'node:crypto'
import { personHeaders } from '../installation.ts'
import { createMachineToken } from '@manager/harness/seed.ts'
import type { Ending, Use } from '@manager/harness/revocation.ts'
import type { Recorder } from '../recorder.ts'
import { proxySecret } from '@manager/harness/callers.ts'
import { type Answer, type Client, graphqlStatus, hasData } from './client.ts'
import type { Credential, MixedWorld } from './world.ts'

type Caller = { client: Client; recorder: Recorder; world: MixedWorld }
/** A call of somebody who may not, and whether it was let in all the same. */
export type StrangerCall = { what: string; status: number; isLetIn: boolean }
export type CredentialLoad = {
  uses: Use[]
  endings: [string, Ending][]
  strangers: StrangerCall[]
  use(): Promise<void>
  end(): Promise<void>
  tryStranger(): Promise<void>
}

/** Another client each time: failures of one would lock it out. */
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

/** Lets a replica see every personal token once: it remembers what it had to hash. */
export async function warmUp(client: Client, world: MixedWorld): Promise<void> {
  for (const { kind, authorization } of world.credentials)
    if (kind === 'personal') await validate({ client, world }, authorization)
}

const endings = {
  personal: 'mutation($id: ID!) { revokePersonalAccessToken(id: $id) { id } }',
  machine: 'mutation($id: ID!) { updateMachineUser(id: $id, input: { enabled: false }) { id } }',
}

/** The calls of this load; what happened is kept in the arrays. */
export function createCredentialLoad(caller: Caller): CredentialLoad {
  const { client, recorder, world } = caller
  const load: Pick<CredentialLoad, 'uses' | 'endings' | 'strangers'> = {
    uses: [],
    endings: [],
    strangers: [],
  }
  const { credentials } = world
  let [ended, turn, strange] = [0, 0, 0]
  // Those that were just ended, those that are next, and any other.
  const pick = (): Credential => {
    const near = ended - 3 + (turn++ % 6)
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
    end: async () => {
      const credential = credentials[ended++]
      if (credential === undefined) return
      const askedAt = Date.now()
      const status = await recorder.record('end', credential.id, async () =>
        graphqlStatus(
          await client.send('/query', {
            headers: personHeaders(world.site.adminId),
            body: { query: endings[credential.kind], variables: { id: credential.id } },
          }),
        ),
      )
      // Without an answer it may have ended or not: nothing is promised of it.
      if (status === 200) load.endings.push([credential.id, { askedAt, answeredAt: Date.now() }])
    },
    tryStranger: async () => {
      const kind = strangers[strange++ % strangers.length] as Stranger
      await recorder.record('stranger', kind.what, async () => {
        const answer = await kind.call(caller)
        const { status } = answer
        load.strangers.push({ what: kind.what, status, isLetIn: kind.isLetIn(answer) })
        return status
      })
    },
  }
}

type Stranger = {
  what: string
  call: (caller: Caller) => Promise<Answer>
  isLetIn: (answer: Answer) => boolean
}

const unknownToken = (): string => createMachineToken().token
const succeeded = ({ status }: Answer): boolean => status >= 200 && status < 300

const strangers: readonly Stranger[] = [
  {
    what: 'a token that nobody issued',
    call: (caller) => validate(caller, `Bearer ${unknownToken()}`),
    isLetIn: isValid,
  },
  {
    what: 'a mutation of somebody who is no member',
    call: ({ client, world }) =>
      client.send('/query', {
        headers: personHeaders(randomUUID()),
        body: {
          query: `mutation { updateTenant(id: "${world.site.tenantId}", input: { name: "taken" }) { id } }`,
        },
      }),
    isLetIn: hasData,
  },
  {
    what: 'a request without the secret of the proxy',
    call: ({ client, world }) =>
      client.send('/query', {
        headers: { 'x-token-subject': world.site.adminId },
        body: { query: '{ projects { id } }' },
      }),
    isLetIn: hasData,
  },
  {
    what: 'an emit into the application of another project',
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
    isLetIn: succeeded,
  },
  {
    what: 'a call of a machine user without access',
    call: ({ client, world }) =>
      client.send(`/esb/${world.site.applicationId}/orders`, {
        headers: { authorization: `Bearer ${world.comms.token}`, 'x-request-id': `stranger-${randomUUID()}` },
        body: { order: 'stranger' },
      }),
    isLetIn: succeeded,
  },
  {
    what: 'a call with a token that nobody issued',
    call: ({ client, world }) =>
      client.send(`/esb/${world.site.applicationId}/orders`, {
        headers: { authorization: `Bearer ${unknownToken()}`, 'x-forwarded-for': anyClient() },
        body: { order: 'stranger' },
      }),
    isLetIn: succeeded,
  },
]
