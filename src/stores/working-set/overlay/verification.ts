/** The switch of the test mode. A file of its own, so that test set-up does not load the kernel. */
let isOn = false

/** Switches the verification of operations on or off for all stores of this process. */
export function verifyOperations(shouldVerify: boolean): void {
  isOn = shouldVerify
}

export function isVerifying(): boolean {
  return isOn
}
