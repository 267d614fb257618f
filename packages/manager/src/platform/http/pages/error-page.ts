// The page that is shown instead of the requested page when an error occurs.
import type { AppError, ErrorCode } from '../../errors.ts'
import { html } from './html.ts'
import type { Page } from './send-page.ts'

type Advice = { title: string; nextStep: string }

const adviceByCode: Partial<Record<ErrorCode, Advice>> = {
  bad_request: {
    title: 'Invalid request',
    nextStep: 'Go back, correct the problem below, and send the form again.',
  },
  unauthenticated: { title: 'You are not signed in', nextStep: 'Sign in, then open this page again.' },
  forbidden: {
    title: 'This request was rejected',
    nextStep: 'Nothing was changed. Open the page directly at its own address, and use the form there.',
  },
  not_found: { title: 'Not found', nextStep: 'Check the address, or start again.' },
  conflict: {
    title: 'The data has changed',
    nextStep: 'Nothing was recorded. Open the page again, review the changes, then decide.',
  },
  gone: { title: 'This is no longer possible', nextStep: 'Start again if you still need it.' },
  rate_limited: { title: 'Too many attempts', nextStep: 'Wait a while, then try again.' },
  unavailable: { title: 'Not available at the moment', nextStep: 'Wait a moment, then try again.' },
}
const notPermittedAdvice: Advice = {
  title: 'You do not have access to this',
  nextStep: 'Ask an administrator for the role named below, or sign in with an account that has it.',
}
const unexpectedErrorAdvice: Advice = {
  title: 'Something went wrong',
  nextStep: 'Try again. If the problem persists, report the request id to your operator.',
}

/** Returns the error page, with the next step and the error message. */
export function createErrorPage(failure: AppError, requestId: string): Page {
  const { title, nextStep } = failure.isNotPermitted
    ? notPermittedAdvice
    : (adviceByCode[failure.code] ?? unexpectedErrorAdvice)
  return {
    title,
    main: html`<h1>${title}</h1>
      <p>${nextStep}</p>
      <p>Reason: ${failure.message}.</p>
      <p class="soft">Request id: ${requestId}</p>`,
  }
}
