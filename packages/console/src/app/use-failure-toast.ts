// Reports the failure of a change that has no dialog, such as a switch.
import { describeFailure } from '../api/failures.ts'
import { showToast } from '../kit/toast.tsx'
import { useText } from '../texts/language.tsx'
import { useChangeText } from './change-failure.tsx'

export function useFailureToast(): (error: unknown) => void {
  const t = useText()
  const describe = useChangeText()
  return (error) => {
    const failure = describeFailure(error, { isChange: true })
    // A switch has no form, so its text does not mention editing.
    showToast(failure.kind === 'conflict' ? t('failure.conflict') : describe(failure), { tone: 'danger' })
  }
}
