// Writes a secret that the Manager returns only once to a private file, and nowhere else.
import { open, rm } from 'node:fs/promises'
import { Failure } from './failures.ts'

/** Creates the file, then writes the secret that `create` returns. Never overwrites an existing file. */
export async function writeSecretFile<Result extends { secret: string | null }>(
  file: string,
  create: () => Promise<Result>,
): Promise<Result> {
  const handle = await open(file, 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
    throw new Failure(
      'usage',
      error.code === 'EEXIST'
        ? `${file} already exists and may contain a secret in use. Choose another file, or move the existing file.`
        : `Cannot write ${file}: ${error.code ?? error.message}`,
    )
  })
  let isWritten = false
  try {
    const result = await create()
    if (result.secret === null) throw new Failure('failed', 'The Manager returned no secret.')
    await handle.writeFile(`${result.secret}\n`)
    await handle.sync()
    isWritten = true
    return result
  } finally {
    await handle.close()
    if (!isWritten) await rm(file, { force: true })
  }
}
