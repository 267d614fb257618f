// Imports of random old installs: whatever they hold, nobody gains, and nobody loses but by a rule that says so.
import { expect, test } from 'vitest'
import { findDifferences } from './differences.ts'
import { dump } from './dump.ts'
import { importInstall, runImport } from './imported.ts'
import { randomInstall } from './random-install.ts'

const installs = Number(process.env['LEGACY_INSTALLS'] ?? 5)
const firstSeed = Number(process.env['LEGACY_SEED'] ?? 1)

test(`${installs} random installs come over`, { timeout: installs * 60_000 }, async () => {
  const different: string[] = []
  for (let seed = firstSeed; seed < firstSeed + installs; seed++) {
    const imported = await importInstall((upstream) =>
      randomInstall({ seed, upstream, odd: seed % 4 === 0 ? 0.3 : 0.08 }),
    )
    try {
      const found = await findDifferences(imported)
      const before = await dump(imported.service.database.url)
      const again = await runImport(imported.service.database, imported.from, imported.install.types)
      if (again.code !== 0) found.push(`a second run ended with ${again.code}: ${again.stderr}`)
      if ((await dump(imported.service.database.url)) !== before) found.push('a second run changed something')
      different.push(...found.map((text) => `seed ${seed}: ${text}`))
    } finally {
      await imported.close()
    }
  }
  expect(different).toEqual([])
})
