// A person approves a terminal login in the browser, and the terminal receives a personal access token that only it can
// decrypt. access-tokens/ manages the tokens, and platform/http/pages/ renders the pages.
import { type Config, selectSettings } from '../../config/config.ts'
import { defineFeature } from '../../feature.ts'
import type { Redis } from '../../platform/redis/redis.ts'
import type { Metrics } from '../../platform/metrics.ts'
import { deriveSecretKey } from '../../platform/secrets/keys.ts'
import { type ThrottleDeps, createThrottle } from '../../platform/throttle/throttle.ts'
import { createWindowLimit } from '../../platform/throttle/window-limit.ts'
import { createCliLoginMetrics } from './cli-login.metrics.ts'
import { registerCliLoginRoutes } from './cli-login.routes.ts'
import { cliLoginSettings } from './cli-login.settings.ts'
import { type DecisionDeps, createDecisionService } from './decision.service.ts'
import { type DeliveryDeps, createDelivery } from './delivery.service.ts'
import { createTerminalService } from './terminal.service.ts'

type Deps = Omit<DeliveryDeps, 'metrics'> &
  Pick<DecisionDeps, 'accessTokens' | 'authFailures'> &
  ThrottleDeps & { config: Config; metrics: Metrics }

export const cliLogin = defineFeature({
  name: 'cliLogin',
  role: 'api',
  settings: cliLoginSettings,
  create: (deps: Deps) => {
    const settings = selectSettings(deps.config, cliLoginSettings)
    const metrics = createCliLoginMetrics(deps.metrics)
    const { codeThrottleFailures: failures, codeThrottleWindowMs: windowMs } = settings
    const guessLimits = { failures, windowMs, blockMs: 'window' as const, maxBlockMs: windowMs }
    const guesses = createThrottle('code', guessLimits, deps)
    const delivery = createDelivery({ ...deps, metrics })
    const terminal = createTerminalService({
      ...deps,
      metrics,
      publicUrl: deps.config.publicUrl.replace(/\/$/, ''),
      limits: {
        pollsOfClient: createPollLimit('cli-poll-client', settings.cliPollsPerClient, deps.redis),
        pollsOfLogin: createPollLimit('cli-poll-login', settings.cliPollsPerLogin, deps.redis),
      },
    })
    const decisions = createDecisionService({
      ...deps,
      metrics,
      guesses,
      formKey: deriveSecretKey(deps.config.masterKey, 'cli-login-form'),
      tokenDays: settings.cliTokenDays,
    })
    return {
      routes: (server) => registerCliLoginRoutes(server, { terminal, decisions, delivery }),
      schedules: [delivery.schedule],
      close: async () => {
        await delivery.close()
        await guesses.close()
      },
      api: {},
    }
  },
})

const createPollLimit = (kind: string, perMinute: number, redis: Redis) =>
  createWindowLimit(kind, { count: perMinute, windowMs: 60_000 }, redis)
