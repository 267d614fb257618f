// This feature identifies callers for the trusted proxy: the owner of a credential or a signed-in person, the
// caller's access to an application, and the available tenants. access-tokens/ and machine-users/ manage the
// credentials.
import { type Config, selectSettings } from '../../config/config.ts'
import { readThrottleLimits } from '../../config/throttle-settings.ts'
import { defineFeature } from '../../feature.ts'
import { type ThrottleDeps, createThrottle } from '../../platform/throttle/throttle.ts'
import { createBasicLogin } from './basic-login.service.ts'
import type { BasicVerifierDeps } from './basic-verifier.service.ts'
import { type CredentialDeps, createCredentialValidator } from './credential.service.ts'
import { type PersonDeps, createPersonService } from './person.service.ts'
import { registerProxyAuthRoutes } from './proxy-auth.routes.ts'
import { proxyAuthSettings } from './proxy-auth.settings.ts'

type Deps = Omit<CredentialDeps & PersonDeps & BasicVerifierDeps, 'throttle' | 'guesses' | 'malformed'> &
  ThrottleDeps & { config: Config }

/** Provides the validation routes for the proxy. Throttles limit failed credentials and malformed requests. */
export const proxyAuth = defineFeature({
  name: 'proxyAuth',
  role: 'api',
  settings: proxyAuthSettings,
  create: (deps: Deps) => {
    const throttles = createThrottles(deps)
    const serviceDeps = { ...deps, ...throttles }
    const validateCredential = createCredentialValidator(serviceDeps, createBasicLogin(serviceDeps))
    const people = createPersonService(serviceDeps)
    return {
      routes: (server) => registerProxyAuthRoutes(server, validateCredential, people),
      close: async () => {
        await Promise.all(Object.values(throttles).map((throttle) => throttle.close()))
      },
      api: {},
    }
  },
})

function createThrottles(deps: Deps) {
  const settings = selectSettings(deps.config, proxyAuthSettings)
  const limits = readThrottleLimits('validate', settings)
  return {
    throttle: createThrottle('validate', limits, deps),
    // This throttle is separate from the credential throttle. A client that guesses tokens must not lock out
    // people who sign in from the same address.
    malformed: createThrottle('validate-oauth', limits, deps),
    guesses: createThrottle('basic', readThrottleLimits('basic', settings), deps),
  }
}
