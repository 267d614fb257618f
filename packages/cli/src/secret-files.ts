// A secret that is shown once goes into a file of its owner, and nowhere else.
import { open, rm } from 'node:fs/promises'
import { Failure } from './failures.ts'

/** Has a file ready before the secret is made, and writes it there; a file that exists is never written over. */
export async function intoSecretFile<Result extends { secret: string | null }>(
  file: string,
  make: () => Promise<Result>,
): Promise<Result> {
  const handle = await open(file, 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
    throw new Failure(
      'usage',
      error.code === 'EEXIST'
        ? `${file} exists, and may hold a secret that is in use. Name another file, or move it away.`
        : `${file} cannot be written: ${error.code ?? error.message}`,
    )
  })
  let isKept = false
  try {
    const result = await make()
    if (result.secret === null) throw new Failure('failed', 'The Manager answered without a secret.')
    await handle.writeFile(`${result.secret}\n`)
    await handle.sync()
    isKept = true
    return result
  } finally {
    await handle.close()
    if (!isKept) await rm(file, { force: true })
  }
}
