import { after, before, isAbout, trailQuery } from './trail-query.pure.ts'

export const cliLogins = trailQuery({
  name: 'cli-logins',
  title: 'Logins from terminals',
  description:
    'Decisions of people about logins from terminals, deliveries of their tokens, and tokens that never arrived and were revoked for it. Logins that nobody decided leave no row; the tokens are in pat-lifecycle.',
  controls: ['ISO/IEC 27001:2022 A.8.5', 'SOC 2 CC6.1', 'NIST SP 800-53 IA-2'],
  columns: { status_before: before('status'), status_after: after('status') },
  condition: isAbout(['cliLogin']),
})
