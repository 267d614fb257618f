// Chooses the server of a directory request. Servers are tried in their configured order; a server that failed is tried
// last for a while, so that requests do not wait for it again.
import type { LdapServer } from './ldap-connection.ts'
import { LdapFailure, describeFailure } from './ldap-failure.ts'

/** A failed server is tried last for this time, and its failures are reported once in this time. */
export const failedServerMs = 10_000

type ReportFailure = (server: LdapServer, failure: LdapFailure) => void

/** Returns a function that runs the work with the first server that answers. */
export function createFailover(
  servers: readonly LdapServer[],
  { report, now = () => performance.now() }: { report: ReportFailure; now?: () => number },
) {
  const failedUntil = new Map<LdapServer, number>()
  const reportedUntil = new Map<LdapServer, number>()
  const hasFailed = (server: LdapServer): boolean => (failedUntil.get(server) ?? 0) > now()

  function recordFailure(server: LdapServer, failure: LdapFailure): void {
    const until = now() + failedServerMs
    if (failure.isServerFault) failedUntil.set(server, until)
    // Without this limit, every keystroke in a search field would write a line while the directory is stopped.
    if ((reportedUntil.get(server) ?? 0) > now()) return
    reportedUntil.set(server, until)
    report(server, failure)
  }

  return async function run<T>(deadline: number, work: (server: LdapServer) => Promise<T>): Promise<T> {
    const healthy = servers.filter((server) => !hasFailed(server))
    const failed = servers.filter(hasFailed)
    let failure = new LdapFailure('the request timed out')
    for (const server of [...healthy, ...failed]) {
      if (now() >= deadline) break
      try {
        const result = await work(server)
        failedUntil.delete(server)
        return result
      } catch (error) {
        failure = describeFailure('the request', error)
        recordFailure(server, failure)
        if (!failure.isServerFault) break
      }
    }
    throw failure
  }
}
