// A process that may have 256 files open.
import { createScratchDatabase } from './databases.ts'
import { startProcess } from '@manager/harness/process.ts'

/** Somebody the service has not met. */
export const person = { id: '0b54bc1c-2b1f-4a68-9a55-0c8a51a4c0de' }

/** Starts it with a database of its own. */
export async function startWithFewFiles() {
  const database = await createScratchDatabase()
  const service = await startProcess(
    database.url,
    // As many threads on every machine: they take files too.
    { SVC_SHUTDOWN_DRAIN_DELAY_MS: '0', SVC_CREDENTIALS_KDF_THREADS: '1' },
    { shell: (run) => `ulimit -n 256; ${run}` },
  )
  const close = async (): Promise<void> => {
    service.child.kill('SIGKILL')
    await service.exit
    await database.drop()
  }
  return { database, service, close }
}
