// Imports random old installations. An import must not grant additional access, and only a rule may remove
// access.
import { expect, test } from 'vitest'
import { importRandomInstall } from './random-import.ts'

const installs = Number(process.env['LEGACY_INSTALLS'] ?? 5)
const firstSeed = Number(process.env['LEGACY_SEED'] ?? 1)

test(`${installs} random installs come over`, { timeout: installs * 60_000 }, async () => {
  const different: string[] = []
  for (let seed = firstSeed; seed < firstSeed + installs; seed++) {
    const found = await importRandomInstall({ seed, odd: seed % 4 === 0 ? 0.3 : 0.08 })
    different.push(...found.map((text) => `seed ${seed}: ${text}`))
  }
  expect(different).toEqual([])
})

test.each([108])('random install %i comes over, and a second run changes nothing', async (seed) => {
  expect(await importRandomInstall({ seed, odd: 0.2 })).toEqual([])
})
