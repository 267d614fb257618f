// English texts for failures: the reason, what is not affected, and the next step.
export const failures = {
  'failure.sessionEnded': 'Your session has ended',
  'failure.sessionEndedHint': 'Sign in again to continue. You will return to this page.',
  'failure.notFound': 'Not found, or no access',
  'failure.notFoundHint':
    'The address is wrong, the object was deleted, or your roles grant no access to it. Ask a maintainer of the project.',
  'failure.rateLimited': 'Too many requests',
  'failure.unavailable': 'The Manager is overloaded or restarting',
  'failure.unreachable': 'The Manager cannot be reached',
  'failure.offline': 'You are offline',
  'failure.unknownOutcome': 'It is unknown whether the change was saved',
  'failure.unknownOutcomeHint':
    'The connection failed before the response arrived. Reload and look before you repeat it.',
  'failure.conflict': 'Somebody else changed this in the meantime',
  'failure.unexpected': 'Something went wrong',
  'failure.requestIdLabel': 'Request id',
  'failure.rateLimitedHint': 'The Manager accepts further requests after a short wait.',
  'failure.unavailableHint': 'Nothing that you entered is lost. Try again in a moment.',
  'failure.unreachableHint': 'Check your network connection, then try again.',
  'failure.offlineHint': 'The page loads again when the connection returns.',
  'failure.retryIn': (seconds: number) => `Retries in ${seconds} s`,
  'failure.signIn': 'Sign in',
  'failure.changeOffline':
    'You are offline. Nothing was saved. Repeat the change when the connection returns.',
  'failure.changeSessionEnded':
    'Your session has ended. Nothing was saved. Sign in in a new tab, then repeat the change here.',
  'failure.offlinePageHint': 'This page is not loaded yet. Reload it when the connection returns.',
  'failure.unknownOutcomeReloaded':
    'The page behind this form is up to date now. If it shows your change, close the form. Otherwise save again.',
}
