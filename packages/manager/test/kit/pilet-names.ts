// Tests random package names and versions, from the upload to the bundle links of a feed.
import { randomInt } from 'node:crypto'
import { expect } from 'vitest'
import { isExactVersion, isPackageName } from '../../src/platform/inputs/packages.ts'
import { type Person, proxySecret } from '@manager/harness/callers.ts'
import type { TestApp } from './app.ts'
import { requestThroughProxy } from './cached-responses.ts'
import { setLayer } from './pilet-rows.ts'
import { uploadPilet } from '@manager/harness/pilets.ts'
import { seedProject } from '@manager/harness/seed.ts'

const headers = { 'x-proxy-auth': proxySecret }
const modulesPerApplication = 1_000

const pick = (from: string): string => from.charAt(randomInt(from.length))
const [first, later] = ['abcdefghijklmnopqrstuvwxyz0123456789~-', 'abcdefghijklmnopqrstuvwxyz0123456789~-._']
const word = (length: number): string =>
  pick(first) + Array.from({ length: length - 1 }, () => pick(later)).join('')
/** Returns a random name of any valid length. Half of the names have a scope. */
function anyName(): string {
  const length = randomInt(4) === 0 ? randomInt(1, 215) : randomInt(1, 30)
  if (length < 4 || randomInt(2) === 0) return word(length)
  const scope = randomInt(1, length - 2)
  return `@${word(scope)}/${word(length - scope - 2)}`
}
const number = (): string => String(randomInt(3) === 0 ? randomInt(1_000_000) : randomInt(10))
const identifier = (): string => `x${word(randomInt(1, 12)).replaceAll(/[._~]/g, '-')}`
const listOf = (one: () => string): string => Array.from({ length: randomInt(1, 5) }, one).join('.')
const anyVersion = (): string =>
  [number(), number(), number()].join('.') +
  (randomInt(2) === 0 ? '' : `-${listOf(() => (randomInt(2) === 0 ? number() : identifier()))}`) +
  (randomInt(2) === 0 ? '' : `+${listOf(identifier)}`)

/** Uploads `count` packages. Every feed link must be percent-encoded and must return the bytes of its own package. */
export async function expectNamesToRoundTrip(service: TestApp, admin: Person, count: number): Promise<void> {
  const packages = new Map<string, string>([
    ['a'.repeat(214), '1.0.0'],
    [`@${'b'.repeat(106)}/${'c'.repeat(106)}`, `1.0.0-${'d'.repeat(240)}`],
    ['~', '0.0.0+0'],
  ])
  while (packages.size < count) {
    const [name, version] = [anyName(), anyVersion()]
    // Some random names are reserved, for example names of built-in Node modules.
    if (isPackageName(name) && isExactVersion(version)) packages.set(name, version)
  }
  const names = [...packages.keys()]
  const batches = Array.from({ length: Math.ceil(count / modulesPerApplication) }, (_, n) =>
    names.slice(n * modulesPerApplication, (n + 1) * modulesPerApplication),
  )
  let checked = 0
  const roundTrip = async (modules: string[], n: number): Promise<void> => {
    const project = await seedProject(service.sql, `names-${n}`)
    const { applicationId } = project
    await inTurns(modules, async (name) => {
      const version = packages.get(name) as string
      const bytes = `// ${name} ${version}`
      const { status, body } = await uploadPilet(service, admin, {
        projectId: project.id,
        name,
        version,
        bytes,
      })
      expect([status, body.name, body.version]).toEqual([200, name, version])
    })
    await setLayer(service.sql, project, 'application', { modules })
    const { items } = JSON.parse(
      (await requestThroughProxy(service, `/pilet-feed/${applicationId}`)).body,
    ) as {
      items: { name: string; version: string; link: string; hash: string }[]
    }
    expect(items.map(({ name }) => name)).toEqual(modules.toSorted())
    const check = async ({ name, version, link, hash }: (typeof items)[number]) => {
      expect(version).toBe(packages.get(name))
      expect(link.split('/').slice(0, 4)).toEqual(['', 'pilet-bundle', applicationId, project.id])
      expect(link.split('/').slice(4).map(decodeURIComponent)).toEqual([name, version])
      expect(link).toMatch(/^[\w/.~%-]+$/)
      const answer = await fetch(`${service.url}${link}`, { headers })
      expect([name, answer.status, answer.headers.get('x-pilet-hash')]).toEqual([name, 200, hash])
      expect(await answer.text()).toBe(`// ${name} ${version}`)
      checked++
    }
    await inTurns(items, check)
  }
  // Uploads within one project are serialized, so upload to several projects concurrently.
  await Promise.all(batches.map(roundTrip))
  expect(checked).toBe(count)
}

/** Processes the items in batches of eight. */
async function inTurns<T>(all: readonly T[], work: (one: T) => Promise<void>): Promise<void> {
  for (let from = 0; from < all.length; from += 8) await Promise.all(all.slice(from, from + 8).map(work))
}
