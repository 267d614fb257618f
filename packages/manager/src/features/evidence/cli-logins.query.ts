import { buildAfterSql, buildBeforeSql, buildEntityCondition, createTrailQuery } from './trail-query.pure.ts'

export const cliLogins = createTrailQuery({
  name: 'cli-logins',
  title: 'Terminal logins',
  description:
    'Decisions about terminal logins, deliveries of their tokens, and tokens that were revoked because they were not delivered. Undecided logins have no row. The tokens are in pat-lifecycle.',
  controls: ['ISO/IEC 27001:2022 A.8.5', 'SOC 2 CC6.1', 'NIST SP 800-53 IA-2'],
  columns: { status_before: buildBeforeSql('status'), status_after: buildAfterSql('status') },
  condition: buildEntityCondition(['cliLogin']),
})
