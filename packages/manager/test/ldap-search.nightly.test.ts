// Measures searches in an LDAP directory with 50,000 people.
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Person } from '@manager/harness/callers.ts'
import { type Slapd, startSlapd } from '@manager/harness/engines/slapd.ts'
import { seedUser } from '@manager/harness/seed.ts'
import { type TestApp, startTestApp } from './kit/app.ts'
import { ldapEnv, personId, toLdif } from './kit/ldap.ts'

const count = 50_000
const first = [
  'Anna',
  'Bruno',
  'Clara',
  'David',
  'Elena',
  'Felix',
  'Greta',
  'Hugo',
  'Irene',
  'Jonas',
  'Karla',
  'Lukas',
]
const last = [
  'Meier',
  'Novak',
  'Okafor',
  'Petrov',
  'Quinn',
  'Rossi',
  'Schulz',
  'Tanaka',
  'Ueda',
  'Vogel',
  'Weber',
]
const nameOf = (number: number): string =>
  `${first[number % first.length]} ${last[Math.floor(number / 7) % last.length]} ${number.toString(36)}`

let slapd: Slapd
let service: TestApp
let admin: Person

beforeAll(async () => {
  const ldif = Array.from({ length: count }, (_, number) =>
    toLdif({ id: personId(number), uid: `u${number}`, cn: nameOf(number), mail: `u${number}@corp.example` }),
  )
  const startedAt = performance.now()
  slapd = await startSlapd({ ldif: ldif.join('') })
  process.stdout.write(`loaded ${count} entries in ${Math.round(performance.now() - startedAt)} ms\n`)
  // A busy machine makes searches slower, but must not reject them.
  service = await startTestApp({ env: ldapEnv(slapd), transport: { loopDelayMs: () => 0 } })
  admin = await seedUser(service.sql, 'admin', 'administrator')
})
afterAll(async () => {
  await service.close()
  await slapd.close()
})

const search = async (text: string): Promise<{ ms: number; found: number }> => {
  const startedAt = performance.now()
  const { data, error } = await service.query(
    admin,
    'query($text: String!) { found: userProviderSearch(name: $text) { id displayName email } }',
    { text },
  )
  expect(error).toBeNull()
  return { ms: performance.now() - startedAt, found: data.found.length }
}

/** Returns typical search texts: a whole name, an address, a rare part of a name, and the start of a common name. */
const textsOf = (number: number): string[] => [
  nameOf(number),
  `u${number}@corp`,
  `u${number}`,
  ` ${number.toString(36)}`.padStart(4, 'a'),
  (first[number % first.length] as string).slice(0, 1 + (number % 4)),
]

const quantile = (sorted: readonly number[], share: number): number =>
  Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] as number)

test('19 of 20 searches in a directory with 50,000 people take less than 200 ms', async () => {
  for (const text of textsOf(1)) await search(text)
  const times: Record<string, number[]> = { few: [], many: [] }
  for (let run = 0; run < 60; run++)
    for (const text of textsOf((run * 797) % count)) {
      const { ms, found } = await search(text)
      times[found < 100 ? 'few' : 'many']?.push(ms)
    }
  const all = Object.values(times).flat()
  for (const [name, values] of Object.entries({ ...times, all })) {
    const sorted = values.toSorted((a, b) => a - b)
    process.stdout.write(
      `${name}: ${sorted.length} searches, p50 ${quantile(sorted, 0.5)} ms, p95 ${quantile(sorted, 0.95)} ms, max ${Math.round(sorted.at(-1) ?? 0)} ms\n`,
    )
  }
  expect(times['few']?.length).toBeGreaterThan(100)
  expect(times['many']?.length).toBeGreaterThan(20)
  expect(
    quantile(
      all.toSorted((a, b) => a - b),
      0.95,
    ),
  ).toBeLessThan(200)
})
