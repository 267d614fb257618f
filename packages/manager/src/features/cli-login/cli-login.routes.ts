import { createHash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import type { Actor } from '../../policy/actor.ts'
import { AppError, badRequest } from '../../platform/errors.ts'
import { getClientNetwork } from '../../platform/http/client-address.ts'
import type { ApiServer } from '../../platform/http/declarations.ts'
import { decodeHeader } from '../../platform/http/headers.ts'
import { acceptOnlyPageForms, refuseEmbedding, refuseForeignForm } from '../../platform/http/pages/forms.ts'
import { sendPage } from '../../platform/http/pages/send-page.ts'
import { decideSchema, pollSchema, showSchema, startSchema } from './cli-login.schemas.ts'
import { renderCodePage, renderConsentPage, renderDecidedPage } from './consent.page.ts'
import type { DecisionService } from './decision.service.ts'
import type { Delivery } from './delivery.service.ts'
import type { TerminalService } from './terminal.service.ts'

const bodyLimit = 8_192

type Services = { terminal: TerminalService; decisions: DecisionService; delivery: Delivery }

/** Registers the routes for the terminal, and the page on which a person approves or denies the login. */
export function registerCliLoginRoutes(server: ApiServer, services: Services): void {
  registerTerminalRoutes(server, services)
  void server.register((forms, _options, done) => {
    acceptOnlyPageForms(forms)
    registerPage(forms, services.decisions)
    done()
  })
}

function registerTerminalRoutes(server: ApiServer, { terminal, delivery }: Services): void {
  const policy = { proxy: 'a terminal has no user yet; it authenticates with the session that it started' }
  server.post(
    '/api/cli/login/start',
    { bodyLimit, config: { policy }, schema: startSchema },
    async (request, reply) => {
      void reply.header('cache-control', 'no-store')
      const { public_key: publicKey, token_name: tokenName } = request.body
      return terminal.start({ publicKey, tokenName }, getOrigin(request))
    },
  )
  server.post(
    '/api/cli/login/poll',
    { bodyLimit, config: { policy, audited: ['cliLogin deliver'] }, schema: pollSchema },
    async (request, reply) => {
      void reply.header('cache-control', 'no-store')
      const poll = await terminal.poll(request.body.session_id, getOrigin(request))
      if ('status' in poll) return poll
      const { loginId, sealedToken, tokenName, expiresAt } = poll
      // The handler waits for `close`, not for the end of the response, because a client that disconnects has
      // not received the token.
      const settle = (): void => {
        const isSent = reply.raw.writableFinished && reply.statusCode === 200
        if (isSent) delivery.onSent(loginId)
        else delivery.onFailed(loginId)
      }
      if (reply.raw.closed) settle()
      else reply.raw.once('close', settle)
      return { sealed_token: sealedToken.toString('base64'), token_name: tokenName, expires_at: expiresAt }
    },
  )
}

function registerPage(server: ApiServer, decisions: DecisionService): void {
  const policy = { user: 'users approve or deny logins for themselves' }
  const errorShape = 'page' as const
  server.get(
    '/cli/authorize',
    { config: { policy, errorShape }, schema: showSchema },
    async (request, reply) => {
      refuseEmbedding(request)
      const { code = '' } = request.query
      if (code.trim() === '') return sendPage(reply, 200, renderCodePage(null))
      const viewer = getViewer(request)
      try {
        const { publicKey, ...shown } = await decisions.show(code, viewer)
        const fingerprint = formatFingerprint(publicKey)
        const isElsewhere = getClientNetwork(shown.ipAddress) !== request.clientNetwork
        const person = formatUserName(viewer.actor.user)
        return await sendPage(
          reply,
          200,
          renderConsentPage({ ...shown, fingerprint, isOtherNetwork: isElsewhere, person }),
        )
      } catch (error) {
        if (!(error instanceof AppError) || error.code !== 'not_found') throw error
        return sendPage(reply, error.status, renderCodePage(error.message))
      }
    },
  )
  server.post(
    '/cli/authorize',
    {
      bodyLimit,
      config: { policy, errorShape, audited: ['personalAccessToken create', 'cliLogin approve'] },
      schema: decideSchema,
    },
    async (request, reply) => {
      refuseForeignForm(request)
      const { code, form_token, decision, compared } = request.body
      if (decision === 'approve' && compared !== 'yes')
        throw badRequest('compared must be yes: compare the code first', 'compared')
      const { tokenName } = await decisions.decide(
        { code, formToken: form_token, decision },
        getViewer(request),
      )
      return sendPage(reply, 200, renderDecidedPage(decision, tokenName))
    },
  )
}

const getOrigin = ({ clientAddress, clientNetwork, headers }: FastifyRequest) => ({
  ipAddress: clientAddress,
  network: clientNetwork,
  userAgent: decodeHeader(headers['user-agent'] ?? ''),
})

const getViewer = ({ actor, clientNetwork }: FastifyRequest) => ({
  actor: actor as Actor,
  network: clientNetwork,
})

const formatUserName = ({ externalName, externalUsername, externalEmail }: Actor['user']): string => {
  const name = externalName === '' ? externalUsername : externalName
  return externalEmail === '' || externalEmail === name ? name : `${name} (${externalEmail})`
}

/**
 * Returns a fingerprint that is short enough to compare visually. A terminal can show the fingerprint of its
 * own key.
 */
const formatFingerprint = (publicKey: Uint8Array): string =>
  (createHash('sha256').update(publicKey).digest('hex').slice(0, 16).match(/.{4}/g) ?? []).join(' ')
