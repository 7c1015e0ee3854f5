// Runs the moved program that the argument names.

switch CommandLine.arguments.last {
case "Bookshop": try await Bookshop.main()
case "Library": try await LibraryProgram.main()
case "Board": try await BoardProgram.main()
case "Ledger": try await LedgerProgram.main()
default: print("there is no such program")
}
