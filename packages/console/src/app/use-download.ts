// Lets the browser download a file from the API. If the session has ended, the browser would save the sign-in page of
// the proxy in its place, so the session is checked first.
import { describeFailure } from '../api/failures.ts'
import { useRead } from '../api/requests.ts'
import { shellMeDocument } from '../generated/documents.ts'
import { useFailureText } from '../kit/state.tsx'
import { showToast } from '../kit/toast.tsx'
import { useText } from '../texts/language.tsx'
import { downloadFile } from './csv.ts'

export type Download = {
  readonly isPending: boolean
  readonly run: (address: string, name: string, onDone?: () => void) => void
}

export function useDownload(): Download {
  const t = useText()
  const describe = useFailureText()
  const { refetch, isFetching } = useRead(shellMeDocument, {})
  const run = async (address: string, name: string, onDone?: () => void): Promise<void> => {
    const { error } = await refetch()
    if (error !== null) {
      showToast(t('app.exportFailed', describe(describeFailure(error))), { tone: 'danger' })
      return
    }
    downloadFile(address, name)
    onDone?.()
  }
  return { isPending: isFetching, run: (address, name, onDone) => void run(address, name, onDone) }
}
