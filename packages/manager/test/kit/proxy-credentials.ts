// Sends credentials that the proxy asks the Manager to validate, and reads refusals.
import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import type { Person } from '@manager/harness/callers.ts'
import type { TestApp } from './app.ts'
import { type JsonAnswer, basicValue, createMachine, validate } from '@manager/harness/credentials.ts'
import type { SeededProject } from '@manager/harness/seed.ts'

export const username = 'Backend'
export const password = 'pass:wörd:€🔑 '

/** Returns a refusal without its request id. */
export const refusalOf = ({ status, body }: JsonAnswer) => ({
  status,
  body: { ...body, request_id: undefined },
})
const message = 'invalid credentials: unknown, expired, revoked or disabled'
export const refused = { status: 401, body: { valid: false, message, code: 'unauthenticated' } }

/** Returns functions that validate credentials of the project, each time from a new client. */
export function proxyCredentials(scene: () => { service: TestApp; admin: Person; project: SeededProject }) {
  // Failures are counted per client. With a new client address for each call, the calls do not affect each other.
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
  /**
   * Expects that refusing an unknown user, a disabled user or a wrong password costs one slow hash each. `around` wraps
   * each refusal.
   */
  async function expectOneHashPerRefusal(token: string, around = (refuse: () => Promise<void>) => refuse()) {
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
  return { nextClient, ask, bearerMachine, mutate, setEnabled, kdfRuns, expectOneHashPerRefusal }
}
