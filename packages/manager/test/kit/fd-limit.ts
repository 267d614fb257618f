// Starts a service process that may open at most 256 files.
import { createScratchDatabase } from './databases.ts'
import { startProcess } from '@manager/harness/process.ts'

/** A user that the service does not know. */
export const unknownPerson = { id: '0b54bc1c-2b1f-4a68-9a55-0c8a51a4c0de' }

/** Starts the service with its own database. */
export async function startWithFdLimit() {
  const database = await createScratchDatabase()
  const service = await startProcess(
    database.url,
    // Use the same number of threads on every machine, because threads also use file descriptors.
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
