// Sends failed validations, and checks the responses to a locked-out client.
import { expect } from 'vitest'
import type { TestApp } from './app.ts'
import { type JsonAnswer, basicValue, validate } from '@manager/harness/credentials.ts'
import { type SeededProject, seedBasicUser } from '@manager/harness/seed.ts'

export function expectLocked(answer: JsonAnswer, longestSeconds: number): void {
  expect([answer.status, Object.keys(answer.body)]).toEqual([429, ['valid', 'message', 'code', 'request_id']])
  expect(answer.body).toMatchObject({
    valid: false,
    message: 'too many failed validations; try again later',
    code: 'rate_limited',
  })
  const retryAfter = answer.headers.get('retry-after') ?? ''
  expect(retryAfter).toMatch(/^[1-9]\d*$/)
  expect(Number(retryAfter)).toBeLessThanOrEqual(longestSeconds)
  // The lockout has just started.
  expect(Number(retryAfter)).toBeGreaterThan(longestSeconds - 25)
}

/** Returns functions that create new clients and Basic users, and guess passwords. */
export function failedValidations(scene: () => { service: TestApp; project: SeededProject }) {
  let clients = 0
  /** Returns an unused client address. */
  const nextClient = (): string => {
    clients++
    return `10.2.${clients >> 8}.${clients & 255}`
  }
  let names = 0
  const basicUser = () => {
    names++
    const { service, project } = scene()
    return seedBasicUser(service.sql, project, `Backend-${names}`)
  }

  const validateFrom = (client: string, authorization: string, app = scene().service) =>
    validate(app.url, authorization, scene().project.applicationId, client)
  /** Sends a validation that fails without hashing. */
  const failCheaply = (client: string, app = scene().service) => validateFrom(client, 'Bearer nonsense', app)
  let guesses = 0
  /** Guesses a password that was never tried before. */
  const guessPassword = (client: string, username: string, app = scene().service) => {
    guesses++
    return validateFrom(client, basicValue(username, `guess ${guesses}`), app)
  }
  /** Sends 20 concurrent guesses, expects that only five are verified, and returns all statuses. */
  async function expectFiveTried(): Promise<number[]> {
    const [client, { username }] = [nextClient(), await basicUser()]
    const runs = async () => (await scene().service.world.metrics.authKdfRuns.get()).values[0]?.value ?? 0
    const before = await runs()
    const answers = await Promise.all(Array.from({ length: 20 }, () => guessPassword(client, username)))
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(5)
    expect((await runs()) - before).toBeLessThanOrEqual(5)
    for (const answer of answers.filter(({ status }) => status === 429)) expectLocked(answer, 900)
    return answers.map(({ status }) => status)
  }
  return { nextClient, basicUser, validateFrom, failCheaply, guessPassword, expectFiveTried }
}
