// How often terminals may ask, and how long their tokens live.
import { type Reader, integer, setting } from '../../config/readers.ts'
import { throttleSettings } from '../../config/throttle-settings.ts'

const perMinute: Reader<number> = integer(1, 1_000_000)

export const cliLoginSettings = {
  cliTokenDays: setting(integer(1, 3_650), {
    key: 'cli_login.token_days',
    env: 'SVC_CLI_LOGIN_TOKEN_DAYS',
    default: 90,
    doc: 'How long a personal access token lives that a terminal gets.',
  }),
  cliStartsPerClient: setting(perMinute, {
    key: 'cli_login.starts_per_client',
    env: 'SVC_CLI_LOGIN_STARTS_PER_CLIENT',
    default: 30,
    doc: 'How many logins a client may start a minute.',
  }),
  cliPollsPerClient: setting(perMinute, {
    key: 'cli_login.polls_per_client',
    env: 'SVC_CLI_LOGIN_POLLS_PER_CLIENT',
    default: 120,
    doc: 'How often a client may poll a minute, whatever the login.',
  }),
  cliPollsPerLogin: setting(perMinute, {
    key: 'cli_login.polls_per_login',
    env: 'SVC_CLI_LOGIN_POLLS_PER_LOGIN',
    default: 30,
    doc: 'How often a login may be polled a minute.',
  }),
  ...throttleSettings('code', {
    failures: 10,
    windowMs: 900_000,
    blockMs: 900_000,
    doc: {
      failures:
        'Wrong user codes on `/cli/authorize` that block a person; five times as many block a client.',
      block: 'How long they are answered 429.',
    },
  }),
} as const
