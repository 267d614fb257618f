// Credentials that the proxy asks about, and refusals of them.
import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import type { Person } from '@manager/harness/callers.ts'
import type { TestApp } from './app.ts'
import { type JsonAnswer, basicValue, createMachine, validate } from '@manager/harness/credentials.ts'
import type { SeededProject } from '@manager/harness/seed.ts'

export const username = 'Backend'
export const password = 'pass:wörd:€🔑 '

/** Everything of a refusal but its request id. */
export const refusalOf = ({ status, body }: JsonAnswer) => ({
  status,
  body: { ...body, request_id: undefined },
})
const message = 'invalid credentials: unknown, expired, revoked or disabled'
export const refused = { status: 401, body: { valid: false, message, code: 'unauthenticated' } }

/** Questions about credentials of the project, each from a client of its own. */
export function proxyCredentials(scene: () => { service: TestApp; admin: Person; project: SeededProject }) {
  // Failures are counted per client; a client of its own keeps each call out of the counts of the others.
  let clients = 0
  const nextClient = (): string => {
    clients++
    return `10.1.${clients >> 8}.${clients & 255}`
  }
  const ask = (authorization: string, applicationId = scene().project.applicationId, app = scene().service) =>
    validate(app.url, authorization, applicationId, nextClient())

  async function bearerMachine(): Promise<{ id: string; token: string }> {
    const { service, admin, project } = scene()
    const created = await createMachine(service, admin, project.environmentId)
    return { id: created.id, token: created.token as string }
  }
  const mutate = async (text: string, variables: Record<string, unknown>) => {
    const { service, admin } = scene()
    const { data, error } = await service.query(admin, `mutation${text}`, variables)
    if (error !== null) throw new Error(error)
    return data
  }
  const setEnabled = (id: string, on: boolean) =>
    mutate('($id: ID!, $on: Boolean!) { updateMachineUser(id: $id, input: {enabled: $on}) { id } }', {
      id,
      on,
    })
  const kdfRuns = async (): Promise<number> =>
    (await scene().service.world.metrics.authKdfRuns.get()).values[0]?.value ?? 0
  /** Refusals of an unknown user, a disabled one and wrong passwords cost one slow hash each; `around` runs each. */
  async function expectOneRunEach(token: string, around = (refuse: () => Promise<void>) => refuse()) {
    const { service, admin, project } = scene()
    const off = { username: 'slow-off', password: 'right' }
    await setEnabled((await createMachine(service, admin, project.environmentId, off)).id, false)
    const headers = [
      basicValue('no-such-user', 'a'),
      basicValue(off.username, off.password),
      basicValue(off.username, 'wrong'),
      basicValue(username, 'wrong'),
      basicValue(`Bearer:${token.slice(0, 8)}`, 'a'),
    ]
    for (const header of headers) {
      const before = await kdfRuns()
      await around(async () => {
        expect(refusalOf(await ask(header))).toEqual(refused)
        expect(await kdfRuns()).toBe(before + 1)
      })
    }
    const before = await kdfRuns()
    await ask(basicValue(username, 'wrong'), randomUUID())
    expect(await kdfRuns()).toBe(before + 1)
  }
  return { nextClient, ask, bearerMachine, mutate, setEnabled, kdfRuns, expectOneRunEach }
}
