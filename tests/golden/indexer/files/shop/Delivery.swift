import Foundation
import Vapor

/// The longest time that a parcel may take.
let deliveryDaysMax = 14

enum DeliveryError: Error {
    case unknownAddress(String)
    case tooHeavy
}

/// Whoever brings parcels.
protocol Carrier {
    var name: String { get }
    func price(of parcel: Parcel) throws -> Decimal
}

struct Parcel: Codable {
    let weight: Double
    let address: String
    static let weightMax = 31.5
}

/// Chooses the cheapest carrier for a parcel.
public final class Delivery {
    private let carriers: [Carrier]

    init(carriers: [Carrier]) {
        self.carriers = carriers
    }

    deinit {
        print("done")
    }

    var count: Int {
        return carriers.count
    }

    /// The carrier with the lowest price; nil when none takes the parcel.
    func cheapest(for parcel: Parcel) throws -> Carrier? {
        guard parcel.weight <= Parcel.weightMax else {
            throw DeliveryError.tooHeavy
        }
        return try carriers.min { left, right in
            try left.price(of: parcel) < right.price(of: parcel)
        }
    }
}

extension Delivery {
    static func standard() -> Delivery {
        Delivery(carriers: [])
    }

    subscript(index: Int) -> Carrier {
        carriers[index]
    }
}

actor Tracker {
    private var seen: [String: Date] = [:]

    func note(_ code: String) {
        seen[code] = Date()
    }
}

typealias Route = [String]

func daysLeft(until date: Date) -> Int {
    Calendar.current.dateComponents([.day], from: Date(), to: date).day ?? 0
}
