// Imports random old installations.
import { findDifferences } from './differences.ts'
import { dump } from './dump.ts'
import { importInstall, runImport } from './imported.ts'
import { randomInstall } from './random-install.ts'

/**
 * Imports a random installation twice and returns all differences. The second import must not change
 * anything.
 */
export async function importRandomInstall({ seed, odd }: { seed: number; odd: number }): Promise<string[]> {
  const imported = await importInstall((upstream) => randomInstall({ seed, upstream, odd }))
  try {
    const found = await findDifferences(imported)
    const { database } = imported.service
    const before = await dump(database.url)
    const again = await runImport(database, imported.from, imported.install.types)
    if (again.code !== 0) found.push(`a second run ended with ${again.code}: ${again.stderr}`)
    if ((await dump(database.url)) !== before) found.push('a second run changed something')
    return found
  } finally {
    await imported.close()
  }
}
